# A definition against the live schema.
libmillrace_a_SOURCES += \
	%D%/answers.c %D%/answers.h \
	%D%/check.c %D%/check.h \
	%D%/check_bucket.c %D%/check_bucket.h \
	%D%/check_delayed.c %D%/check_delayed.h \
	%D%/check_generated.c %D%/check_generated.h \
	%D%/check_join.c %D%/check_join.h \
	%D%/check_key.c %D%/check_key.h \
	%D%/check_live.c %D%/check_live.h \
	%D%/checked_table.c %D%/checked_table.h \
	%D%/columns_generate.c %D%/columns_generate.h
