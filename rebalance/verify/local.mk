# Whether documents are equal to their rows.
libmillrace_a_SOURCES += \
	%D%/verdict.c %D%/verdict.h
