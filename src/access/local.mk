# Roles, passwords, tokens.
libmillrace_a_SOURCES += \
	%D%/password.c %D%/password.h \
	%D%/role.c %D%/role.h \
	%D%/token.c %D%/token.h
