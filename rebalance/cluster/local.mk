# Who owns what.
libmillrace_a_SOURCES += \
	%D%/cluster.c %D%/cluster.h
