# The program: parts made and ended in order.
libmillrace_a_SOURCES += \
	%D%/alarm_settings.c %D%/alarm_settings.h \
	%D%/app.c %D%/app.h \
	%D%/service.c %D%/service.h
