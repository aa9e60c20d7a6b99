# This node's part in a cluster: the thread that runs the barrier over the coordination.
libmillrace_a_SOURCES += \
	%D%/cluster_zookeeper.c %D%/cluster_zookeeper.h \
	%D%/member.c %D%/member.h %D%/member_parts.h \
	%D%/member_run.c \
	%D%/notes.c %D%/notes.h \
	%D%/orders.c %D%/orders.h \
	%D%/survey.c
