# The edge to ZooKeeper.
libmillrace_a_SOURCES += \
	%D%/coordination.h %D%/coordination_ops.h \
	%D%/zookeeper.h \
	%D%/zookeeper_name.c %D%/zookeeper_name.h
if HAVE_ZOOKEEPER
libmillrace_a_SOURCES += \
	%D%/zookeeper.c \
	%D%/zookeeper_call.c \
	%D%/zookeeper_call.h \
	%D%/zookeeper_handle.c \
	%D%/zookeeper_locks.c \
	%D%/zookeeper_nodes.c \
	%D%/zookeeper_notes.c \
	%D%/zookeeper_parts.h \
	%D%/zookeeper_root.c \
	%D%/zookeeper_session.c \
	%D%/zookeeper_values.c
else
libmillrace_a_SOURCES += %D%/zookeeper_absent.c
endif
