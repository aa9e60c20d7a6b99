# 6 checkpoint: tickets, what is done, what is safe, saving it.
libmillrace_a_SOURCES += \
	%D%/checkpoint.c %D%/checkpoint.h \
	%D%/dump_watch.c %D%/dump_watch.h \
	%D%/fingerprint.c %D%/fingerprint.h \
	%D%/grace_period.c %D%/grace_period.h \
	%D%/lag.c %D%/lag.h \
	%D%/midnights.c %D%/midnights.h \
	%D%/outcome.h \
	%D%/progress.c %D%/progress.h \
	%D%/read_position.c %D%/read_position.h \
	%D%/safe_point.c %D%/safe_point.h \
	%D%/save_due.c %D%/save_due.h \
	%D%/saver.c %D%/saver.h \
	%D%/ticket.c %D%/ticket.h
