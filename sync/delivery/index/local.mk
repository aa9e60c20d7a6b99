# One index: queue, fuse, gate, limits, purge.
libmillrace_a_SOURCES += \
	%D%/drain.c %D%/drain.h \
	%D%/fuse.c %D%/fuse.h \
	%D%/gate.c %D%/gate.h \
	%D%/guests.c %D%/guests.h \
	%D%/headroom.c %D%/headroom.h \
	%D%/health.c %D%/health.h \
	%D%/limiter.c %D%/limiter.h \
	%D%/lines.c %D%/lines.h \
	%D%/load_shedding.c %D%/load_shedding.h \
	%D%/metric.c %D%/metric.h \
	%D%/options.h \
	%D%/index_queue.h \
	%D%/index_queue_make.c \
	%D%/index_queue_next.c \
	%D%/index_queue_parts.h \
	%D%/index_queue_purge.c \
	%D%/index_queue_lanes.c \
	%D%/index_queues.c %D%/index_queues.h \
	%D%/neighbours.c %D%/neighbours.h \
	%D%/pace.c %D%/pace.h \
	%D%/purge.c %D%/purge.h \
	%D%/purged.c %D%/purged.h \
	%D%/seldom.c %D%/seldom.h \
	%D%/worker_backlog.c %D%/worker_backlog.h
