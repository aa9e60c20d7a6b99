# The threads that read documents again by key.
libmillrace_a_SOURCES += \
	%D%/load_run.c %D%/load_run.h \
	%D%/reread.c %D%/reread.h
