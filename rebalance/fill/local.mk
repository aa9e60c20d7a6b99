# Buckets of a build, and parts of a delayed run: their rows into a version.
libmillrace_a_SOURCES += \
	%D%/away.c %D%/away.h \
	%D%/bucket.c %D%/bucket.h \
	%D%/chunk.c \
	%D%/fill.c %D%/fill.h \
	%D%/fills.c %D%/fills.h \
	%D%/index_fill.h \
	%D%/growth.c %D%/growth.h \
	%D%/job.c %D%/job.h \
	%D%/level.c %D%/level.h \
	%D%/note.c \
	%D%/parameters.c %D%/parameters.h \
	%D%/part.c %D%/part.h \
	%D%/part_load.c %D%/part_load.h \
	%D%/range.c \
	%D%/share.c %D%/share.h \
	%D%/source.c %D%/source.h \
	%D%/targets.c %D%/targets.h
