# Rows that take effect at a later XA COMMIT.
libmillrace_a_SOURCES += \
	%D%/deferred_rows.c %D%/deferred_rows.h \
	%D%/prepared.c %D%/prepared.h \
	%D%/spill.c %D%/spill.h \
	%D%/transaction_buffer.c %D%/transaction_buffer.h
