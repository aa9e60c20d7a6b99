# What a node does for somebody who does not wait for it.
libmillrace_a_SOURCES += \
	%D%/task.c %D%/task.h
