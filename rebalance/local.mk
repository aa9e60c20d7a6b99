# The coordinator: its thread, start and stop.
libmillrace_a_SOURCES += \
	%D%/node.c %D%/node.h
