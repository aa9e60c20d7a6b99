# A day that is read and written once more.
libmillrace_a_SOURCES += \
	%D%/by_time.c \
	%D%/find.c \
	%D%/job.c %D%/job.h \
	%D%/keys.c %D%/keys.h \
	%D%/log.c \
	%D%/order.c \
	%D%/parts.h \
	%D%/replay.h \
	%D%/rows.c %D%/rows.h \
	%D%/span.c %D%/span.h \
	%D%/state.c \
	%D%/write.c
