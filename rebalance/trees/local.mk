# One side's documents by id and hash, and both sides compared.
libmillrace_a_SOURCES += \
	%D%/pair.c %D%/pair.h \
	%D%/tree.c %D%/tree.h \
	%D%/tree_batch.c %D%/tree_batch.h \
	%D%/tree_bucket.c %D%/tree_bucket.h \
	%D%/tree_compare.c %D%/tree_compare.h \
	%D%/tree_entries.c %D%/tree_entries.h \
	%D%/tree_file.c %D%/tree_file.h \
	%D%/tree_header.c %D%/tree_header.h \
	%D%/tree_id.c %D%/tree_id.h \
	%D%/tree_page.c %D%/tree_page.h \
	%D%/tree_snapshot.c %D%/tree_snapshot.h \
	%D%/trees.c %D%/trees.h \
	%D%/trees_exchange.h
