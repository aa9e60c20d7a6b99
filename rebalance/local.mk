# The coordinator: its thread, start and stop.
libmillrace_a_SOURCES += \
	%D%/coordinator.c
