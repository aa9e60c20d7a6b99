# One definition, changed by a command, or a part of it shown.
libmillrace_a_SOURCES += \
	%D%/edit.c %D%/edit.h \
	%D%/object.c %D%/object.h \
	%D%/part.c
