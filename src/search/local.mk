# The search engine: dialect, indexes, aliases, pages, nodes.
libmillrace_a_SOURCES += \
	%D%/access.c %D%/access.h \
	%D%/asker.c %D%/asker.h \
	%D%/documents.c %D%/documents.h \
	%D%/engine.c %D%/engine.h \
	%D%/engine_error.c %D%/engine_error.h \
	%D%/index.c \
	%D%/nodes.c %D%/nodes.h \
	%D%/pages.c %D%/pages.h \
	%D%/search.c %D%/search.h \
	%D%/sniff.c %D%/sniff.h
