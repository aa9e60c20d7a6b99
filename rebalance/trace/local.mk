# Why one document is, or is not, as its row.
libmillrace_a_SOURCES += \
	%D%/answer.c \
	%D%/code.c %D%/code.h \
	%D%/facts.c \
	%D%/log.c \
	%D%/parts.h \
	%D%/row.c \
	%D%/shown.c \
	%D%/trace.c %D%/trace.h \
	%D%/versions.c
