# Whether documents are equal to their rows.
libmillrace_a_SOURCES += \
	%D%/looks.c \
	%D%/repair.c \
	%D%/report.c \
	%D%/run.h \
	%D%/verdict.c %D%/verdict.h \
	%D%/verify.c %D%/verify.h
