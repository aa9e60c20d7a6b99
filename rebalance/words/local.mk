# The words of the analyzer's lists: changed, served, and who uses them.
libmillrace_a_SOURCES += \
	%D%/change.c \
	%D%/content.c %D%/content.h \
	%D%/list.c \
	%D%/pulls.c %D%/pulls.h \
	%D%/serve.c \
	%D%/status.c \
	%D%/text.c %D%/text.h \
	%D%/try.c \
	%D%/usage.c %D%/usage.h \
	%D%/words.h
