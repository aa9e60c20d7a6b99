# Users and tokens: who may ask the daemon over its port.
libmillrace_a_SOURCES += \
	%D%/access.c %D%/access.h \
	%D%/change.c %D%/change.h \
	%D%/first_admin.c %D%/first_admin.h \
	%D%/list.c %D%/list.h \
	%D%/log_in.c %D%/log_in.h \
	%D%/tokens.c %D%/tokens.h
