# One typed value, and what a table looked like: pure.
libmillrace_a_SOURCES += \
	%D%/charset.c %D%/charset.h \
	%D%/charset_tables.c %D%/charset_tables.h \
	%D%/decimal.c %D%/decimal.h \
	%D%/geometry.c %D%/geometry.h \
	%D%/json_diff.c %D%/json_diff.h \
	%D%/jsonb.c %D%/jsonb.h \
	%D%/schema.c %D%/schema.h \
	%D%/schema_json.c %D%/schema_json.h \
	%D%/temporal.c %D%/temporal.h \
	%D%/value.c %D%/value.h \
	%D%/value_json.c %D%/value_json.h
