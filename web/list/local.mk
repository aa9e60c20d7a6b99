# Pages of lists.
libmillrace_a_SOURCES += \
	%D%/list_page.c %D%/list_page.h
