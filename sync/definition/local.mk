# What the user asked for: parse, diff, export.
libmillrace_a_SOURCES += \
	%D%/constant.c %D%/constant.h \
	%D%/definition.c %D%/definition.h \
	%D%/delayed.c %D%/delayed.h \
	%D%/diff.c %D%/diff.h \
	%D%/doubt.c %D%/doubt.h \
	%D%/export.c %D%/export.h \
	%D%/expression.c %D%/expression.h \
	%D%/expression_functions.c %D%/expression_functions.h \
	%D%/field_type.c %D%/field_type.h \
	%D%/form.c %D%/form.h \
	%D%/index_settings.c %D%/index_settings.h \
	%D%/links.c %D%/links.h \
	%D%/members.c %D%/members.h \
	%D%/parse.c %D%/parse.h \
	%D%/pattern_size.c %D%/pattern_size.h \
	%D%/read.c %D%/read.h \
	%D%/rule.c %D%/rule.h \
	%D%/sharing.c %D%/sharing.h \
	%D%/transform.c %D%/transform.h
