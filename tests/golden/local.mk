# Documents of a live database against recorded ones: run.py starts a private server.
dist_noinst_SCRIPTS += %D%/run.py
EXTRA_DIST += \
	%D%/dates %D%/family %D%/indexes %D%/joins %D%/keys %D%/links %D%/names %D%/text %D%/transforms \
	%D%/tree %D%/types %D%/types_mariadb %D%/types_mysql %D%/types_vector

if HAVE_CMOCKA
check_PROGRAMS += %D%/golden_dump
tests_golden_golden_dump_SOURCES = %D%/golden_dump.c %D%/golden_images.c %D%/golden_areas.c %D%/golden.h
endif

# What `binlog decode` prints for the files of other projects.
TESTS               += %D%/binlog_corpus.tap
dist_noinst_SCRIPTS += %D%/binlog_corpus.py %D%/binlog_corpus.tap
EXTRA_DIST          += %D%/vectors/README.md %D%/vectors/cells.tsv %D%/vectors/jsonb.tsv

# What differs between two documents, beside what Python says.
check_PROGRAMS += %D%/json_pairs
tests_golden_json_pairs_SOURCES = %D%/json_pairs.c
TESTS               += %D%/json_pairs.tap
dist_noinst_SCRIPTS += %D%/json_pairs.py %D%/json_pairs.tap
