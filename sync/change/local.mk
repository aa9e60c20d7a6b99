# 3 change: the builder thread: a row change to writes, re-reads, look-ups.
libmillrace_a_SOURCES += \
	%D%/builder.c %D%/builder.h \
	%D%/log_place.c %D%/log_place.h \
	%D%/parts.h \
	%D%/put_off.c \
	%D%/related.c \
	%D%/root.c \
	%D%/rows.c \
	%D%/table_stops.c %D%/table_stops.h \
	%D%/unit.c \
	%D%/write_gather.c %D%/write_gather.h \
	%D%/writer.h
