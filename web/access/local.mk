# Who sends a request to the port, and how often someone may guess a password.
libmillrace_a_SOURCES += \
	%D%/attempts.c %D%/attempts.h \
	%D%/identity.c %D%/identity.h
