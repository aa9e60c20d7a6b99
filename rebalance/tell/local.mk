# What this node tells others of itself and of its topics.
libmillrace_a_SOURCES += \
	%D%/alarm_findings.c \
	%D%/alarms.c %D%/alarms.h \
	%D%/tell.c %D%/tell.h
