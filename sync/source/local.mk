# 1 source: the reader thread, where to start, failover, the hand-off.
libmillrace_a_SOURCES += \
	%D%/failover.c %D%/failover.h \
	%D%/handoff.c %D%/handoff.h \
	%D%/server_switch.c %D%/server_switch.h \
	%D%/source.c %D%/source.h \
	%D%/start_point.c %D%/start_point.h
