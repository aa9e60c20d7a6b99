# What `binlog decode` and `binlog inspect` print.
libmillrace_a_SOURCES += \
	%D%/decode.c %D%/decode.h \
	%D%/decode_event.c %D%/decode_event.h \
	%D%/inspect.c %D%/inspect.h \
	%D%/log_filter.c %D%/log_filter.h \
	%D%/log_filter_args.c %D%/log_filter_args.h
