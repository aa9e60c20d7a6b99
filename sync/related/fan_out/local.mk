# Rows that lead to very many documents, as stored jobs.
libmillrace_a_SOURCES += \
	%D%/fan_out.h \
	%D%/bell.c %D%/bell.h \
	%D%/jobs.c %D%/jobs.h \
	%D%/look.c \
	%D%/parts.h \
	%D%/put.c \
	%D%/run.c %D%/run.h \
	%D%/thread.c \
	%D%/versions.c
