# The program: parts made and ended in order.
libmillrace_a_SOURCES += \
	%D%/app.c %D%/app.h \
	%D%/service.c %D%/service.h
