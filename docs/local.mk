# The manual page follows from the command table, the references and the JSON schemas from the tables
# that the program reads by; tests/lint/docs.sh, tests/unit/test_reference and
# tests/unit/test_json_schema say when they are stale.
dist_doc_DATA  = %D%/definition.schema.json %D%/millrace.schema.json
dist_man_MANS += %D%/man/millrace.1
EXTRA_DIST    += %D%/access.md %D%/api.md %D%/binlog.md %D%/cluster.md %D%/configuration.md %D%/containers.md \
	%D%/definitions.md %D%/delayed.md %D%/engines.md %D%/operations.md %D%/performance.md %D%/reliability.md \
	%D%/words.md

.PHONY: update-docs
update-docs: millrace$(EXEEXT) tests/unit/test_reference$(EXEEXT) tests/unit/test_json_schema$(EXEEXT)
	./millrace$(EXEEXT) manual > $(srcdir)/docs/man/millrace.1
	top_srcdir=$(srcdir) UPDATE_DOCS=1 tests/unit/test_reference$(EXEEXT)
	top_srcdir=$(srcdir) UPDATE_DOCS=1 tests/unit/test_json_schema$(EXEEXT)
