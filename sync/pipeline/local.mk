# One source from end to end: made, started, stopped, asked.
libmillrace_a_SOURCES += \
	%D%/builder_calls.c %D%/builder_calls.h \
	%D%/dump_start.c %D%/dump_start.h \
	%D%/life.c \
	%D%/make.c \
	%D%/parts.h \
	%D%/pipeline.h \
	%D%/router.c %D%/router.h \
	%D%/state.c \
	%D%/stream_pause.c %D%/stream_pause.h
