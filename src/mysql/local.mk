# One connection to a server: quoting, log-ins, error classes.
libmillrace_a_SOURCES += \
	%D%/account.c %D%/account.h \
	%D%/errors.c %D%/errors.h \
	%D%/explain.c %D%/explain.h \
	%D%/group.c %D%/group.h \
	%D%/login.c %D%/login.h \
	%D%/mysql.c %D%/mysql.h \
	%D%/quote.c \
	%D%/trace.c %D%/trace.h
