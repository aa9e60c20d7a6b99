# The words of the analyzer's lists.
libmillrace_a_SOURCES += \
	%D%/words.c %D%/words.h
