# 5 delivery: requests out, answers in, re-reads, dead letters, drain.
libmillrace_a_SOURCES += \
	%D%/calls.c \
	%D%/conflict.c %D%/conflict.h \
	%D%/delivery.h \
	%D%/draining.c %D%/draining.h \
	%D%/entries.c %D%/entries.h \
	%D%/helpers.c %D%/helpers.h \
	%D%/letters.c %D%/letters.h \
	%D%/make.c \
	%D%/neighbours_ask.c %D%/neighbours_ask.h \
	%D%/outcome.c %D%/outcome.h \
	%D%/parts.h \
	%D%/place.c %D%/place.h \
	%D%/read_batcher.c %D%/read_batcher.h \
	%D%/request.h \
	%D%/request_answer.c \
	%D%/request_items.c \
	%D%/request_large.c \
	%D%/request_parts.h \
	%D%/request_send.c \
	%D%/sender.c %D%/sender.h \
	%D%/thread.c \
	%D%/turn.c %D%/turn.h
