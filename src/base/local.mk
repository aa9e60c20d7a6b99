# Strings, memory, errors, queues, clocks, threads, the log.
libmillrace_a_SOURCES += \
	%D%/arena.c %D%/arena.h \
	%D%/backoff.c %D%/backoff.h \
	%D%/base.h \
	%D%/base64.c %D%/base64.h \
	%D%/buf.c %D%/buf.h \
	%D%/bytes.h \
	%D%/clock.c %D%/clock.h \
	%D%/cursor.h \
	%D%/err.c %D%/err.h \
	%D%/failpoint.c %D%/failpoint.def %D%/failpoint.h \
	%D%/fix.h \
	%D%/hash.c %D%/hash.h \
	%D%/hex.c %D%/hex.h \
	%D%/histogram.c %D%/histogram.h \
	%D%/human.c %D%/human.h \
	%D%/list.h \
	%D%/lock.c %D%/lock.h %D%/lock_order.def \
	%D%/log.c %D%/log.h \
	%D%/log_text.c %D%/log_text.h \
	%D%/magic.c %D%/magic.def %D%/magic.h \
	%D%/map.c %D%/map.h \
	%D%/mem.c %D%/mem.h \
	%D%/minute.c %D%/minute.h \
	%D%/nearest.c %D%/nearest.h \
	%D%/number.c %D%/number.h \
	%D%/number_powers.c %D%/number_powers.h \
	%D%/queue.c %D%/queue.h \
	%D%/random.c %D%/random.h \
	%D%/str.h \
	%D%/thread.c %D%/thread.h \
	%D%/utf8.c %D%/utf8.h
