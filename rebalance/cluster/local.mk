# Who owns what.
libmillrace_a_SOURCES += \
	%D%/barrier.c %D%/barrier.h \
	%D%/barrier_action.c %D%/barrier_event.h \
	%D%/barrier_ask.c \
	%D%/barrier_known.c \
	%D%/barrier_leader.c \
	%D%/barrier_need.c \
	%D%/barrier_plan.c \
	%D%/barrier_self.c \
	%D%/barrier_text.c \
	%D%/barrier_work.c %D%/barrier_parts.h \
	%D%/cluster.c %D%/cluster.h %D%/cluster_ops.h \
	%D%/cluster_change.c %D%/cluster_change.h \
	%D%/cluster_plan.c %D%/cluster_plan.h \
	%D%/cluster_state.c %D%/cluster_state.h \
	%D%/cluster_survey.c %D%/cluster_survey.h \
	%D%/name_set.c %D%/name_set.h \
	%D%/node_data.c %D%/node_data.h \
	%D%/placement.c %D%/placement.h \
	%D%/shared_text.c %D%/shared_text.h
