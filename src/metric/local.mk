# Counters, histograms, and their text.
libmillrace_a_SOURCES += \
	%D%/metric.c %D%/metric.def %D%/metric.h \
	%D%/process.c \
	%D%/statistic.c %D%/statistic.h \
	%D%/timeline.c %D%/timeline.h
