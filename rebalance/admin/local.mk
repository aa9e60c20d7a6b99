# What the API asks and answers.
libmillrace_a_SOURCES += \
	%D%/audit.c %D%/audit.h \
	%D%/bucket_list.c %D%/bucket_list.h \
	%D%/apply.c %D%/apply.h \
	%D%/delivery.c %D%/delivery.h \
	%D%/delivery_set.c %D%/delivery_set.h \
	%D%/definitions.h \
	%D%/doctor.c \
	%D%/draft.c %D%/draft.h \
	%D%/drain.c %D%/drain.h \
	%D%/explain.c \
	%D%/follow.c %D%/follow.h \
	%D%/list.c \
	%D%/live_check.c %D%/live_check.h \
	%D%/log_list.c %D%/log_list.h \
	%D%/mapping.c \
	%D%/metrics.c \
	%D%/node_change.c \
	%D%/node_forget.c \
	%D%/node_list.c %D%/node_list.h \
	%D%/nodes.h \
	%D%/questions.h \
	%D%/run_list.c %D%/run_list.h \
	%D%/search.c %D%/search.h \
	%D%/settings.h \
	%D%/status.c %D%/status.h \
	%D%/table_delete.c \
	%D%/table_metrics.c %D%/table_metrics.h \
	%D%/terms.c %D%/terms.h
