# Rows that foreign keys change without an event.
libmillrace_a_SOURCES += \
	%D%/cascades.h \
	%D%/find.c %D%/find.h \
	%D%/gone.c %D%/gone.h \
	%D%/intake.c \
	%D%/lead.c \
	%D%/look.c \
	%D%/parent.c %D%/parent.h \
	%D%/parts.h \
	%D%/restore.c \
	%D%/rows.c %D%/rows.h \
	%D%/store.c \
	%D%/sweep.c \
	%D%/thread.c \
	%D%/trigger.c %D%/trigger.h
