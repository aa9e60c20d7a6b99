# Columns to index fields, and what a changed shape means for them.
libmillrace_a_SOURCES += \
	%D%/added.c %D%/added.h \
	%D%/mapping.c %D%/mapping.h \
	%D%/settings.c %D%/settings.h \
	%D%/shape_diff.c %D%/shape_diff.h \
	%D%/shared.c %D%/shared.h \
	%D%/usual.c %D%/usual.h \
	%D%/value_change.c %D%/value_change.h
