# What this node tells others of itself and of its topics.
libmillrace_a_SOURCES += \
	%D%/tell.c %D%/tell.h
