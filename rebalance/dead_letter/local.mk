# Dead letters, purged keys, replay.
libmillrace_a_SOURCES += \
	%D%/dead.c %D%/dead.h \
	%D%/letters.c %D%/letters.h \
	%D%/orders.h \
	%D%/purged.c %D%/purged.h \
	%D%/purged_slice.c %D%/purged_slice.h \
	%D%/repeats.c %D%/repeats.h \
	%D%/replay.c %D%/replay.h
