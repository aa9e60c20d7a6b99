# Who owns what.
libmillrace_a_SOURCES += \
	%D%/coordination.c %D%/coordination.h
