# What the API asks and answers.
libmillrace_a_SOURCES += \
	%D%/apply.c %D%/apply.h \
	%D%/delivery.c %D%/delivery.h \
	%D%/delivery_set.c %D%/delivery_set.h \
	%D%/doctor.c \
	%D%/drain.c \
	%D%/explain.c \
	%D%/list.c \
	%D%/live_check.c %D%/live_check.h \
	%D%/mapping.c \
	%D%/metrics.c \
	%D%/search.c %D%/search.h \
	%D%/status.c %D%/status.h
