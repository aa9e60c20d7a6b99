# Who may have the words that words.listen serves.
libmillrace_a_SOURCES += \
	%D%/access.c %D%/access.h
