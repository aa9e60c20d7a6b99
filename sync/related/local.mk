# From a related row to the documents that hold it.
libmillrace_a_SOURCES += \
	%D%/resolve_run.c %D%/resolve_run.h \
	%D%/resolve_task.c %D%/resolve_task.h
