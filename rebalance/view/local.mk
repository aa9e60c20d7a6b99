# What status shows of a table, a topic, a build.
libmillrace_a_SOURCES += \
	%D%/build_why.c \
	%D%/fan_out.c %D%/fan_out.h \
	%D%/kept.c \
	%D%/known.c %D%/known.h \
	%D%/table.c \
	%D%/topic.c %D%/topic.h \
	%D%/view.c %D%/view.h
