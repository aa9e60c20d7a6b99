# Who owns what.
libmillrace_a_SOURCES += \
	%D%/cluster.c %D%/cluster.h \
	%D%/barrier_event.h %D%/cluster_plan.c %D%/cluster_plan.h \
	%D%/cluster_state.c %D%/cluster_state.h \
	%D%/name_set.c %D%/name_set.h \
	%D%/node_data.c %D%/node_data.h \
	%D%/placement.c %D%/placement.h \
	%D%/shared_text.c %D%/shared_text.h
