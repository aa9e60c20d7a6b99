# One definition, changed by a command.
libmillrace_a_SOURCES += \
	%D%/edit.c %D%/edit.h \
	%D%/object.c
