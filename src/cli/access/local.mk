# Users, and tokens for scripts.
libmillrace_a_SOURCES += \
	%D%/secret.c %D%/secret.h \
	%D%/user.c
