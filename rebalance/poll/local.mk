# Tables that are read by time.
libmillrace_a_SOURCES += \
	%D%/sync.c %D%/sync.h \
	%D%/table_sync.c %D%/table_sync.h
