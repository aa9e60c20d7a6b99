# The table of the commands, in parts.
libmillrace_a_SOURCES += \
	%D%/access.c \
	%D%/cluster.c \
	%D%/common.c \
	%D%/definition.c \
	%D%/delayed.c \
	%D%/document.c \
	%D%/index.c \
	%D%/letter.c \
	%D%/rows.h \
	%D%/start.c \
	%D%/table.c \
	%D%/tool.c \
	%D%/word.c
