# Numbered migrations of the store, built into the program.
migration_files = \
	%D%/0001_positions.sql \
	%D%/0002_troubles.sql \
	%D%/0003_shapes.sql \
	%D%/0004_fan_out.sql \
	%D%/0005_purged.sql \
	%D%/0006_dropped.sql \
	%D%/0007_letter_gtid.sql \
	%D%/0008_retired.sql \
	%D%/0009_waiting.sql \
	%D%/0010_gone.sql \
	%D%/0011_final.sql \
	%D%/0012_kept.sql \
	%D%/0013_cluster.sql \
	%D%/0014_build_log.sql \
	%D%/0015_midnights.sql \
	%D%/0016_snapshot.sql \
	%D%/0017_kept_search.sql \
	%D%/0018_whole_table.sql \
	%D%/0019_part_keys.sql \
	%D%/0020_audit.sql \
	%D%/0021_words.sql \
	%D%/0022_audit_reason.sql
nodist_libmillrace_a_SOURCES += sql/migrations.c
EXTRA_DIST += $(migration_files) %D%/embed.awk

sql/migrations.c: $(migration_files) %D%/embed.awk
	$(AM_V_GEN)$(MKDIR_P) sql && \
	files=; for f in $(migration_files); do files="$$files $(srcdir)/$$f"; done; \
	$(AWK) -f $(srcdir)/sql/embed.awk $$files >$@.tmp && mv $@.tmp $@
CLEANFILES += sql/migrations.c sql/migrations.c.tmp
