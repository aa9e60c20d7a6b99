# Alarms: what begins, lasts and is over, and to whom it is sent.
libmillrace_a_SOURCES += \
	%D%/body.c %D%/body.h \
	%D%/book.c %D%/book.h \
	%D%/book_text.c %D%/book_text.h \
	%D%/book_parts.h \
	%D%/budget.c %D%/budget.h \
	%D%/outbox.c %D%/outbox.h
