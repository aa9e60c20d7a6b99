# What was measured during the last day, for plots.
libmillrace_a_SOURCES += \
	%D%/history.c %D%/history.h
