# Whether documents are equal to their rows.
libmillrace_a_SOURCES += \
	%D%/changed.c %D%/changed.h \
	%D%/compared.c %D%/compared.h \
	%D%/condition.c %D%/condition.h \
	%D%/cursor.c \
	%D%/documents.c \
	%D%/exchange.c \
	%D%/job.c %D%/job.h \
	%D%/jobs.c %D%/jobs.h %D%/progress.h \
	%D%/keys.c \
	%D%/listed.c \
	%D%/looks.c \
	%D%/new_version.c \
	%D%/order.c \
	%D%/orphans.c \
	%D%/repair.c \
	%D%/report.c %D%/report.h \
	%D%/reports.c %D%/reports.h \
	%D%/result.c %D%/result.h \
	%D%/rows.c \
	%D%/run.h \
	%D%/sample.c \
	%D%/schedule.c %D%/schedule.h \
	%D%/sides.c \
	%D%/step.c \
	%D%/tree_notes.c \
	%D%/verify.c %D%/verify.h
