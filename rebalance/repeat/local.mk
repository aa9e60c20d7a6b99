# Requests that come again with the same key.
libmillrace_a_SOURCES += \
	%D%/repeat.c %D%/repeat.h \
	%D%/repeat_record.c %D%/repeat_record.h
