# The commands of the analyzer's words.
libmillrace_a_SOURCES += \
	%D%/change.c \
	%D%/look.c
