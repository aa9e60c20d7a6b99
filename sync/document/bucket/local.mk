# Where a table is cut into buckets.
libmillrace_a_SOURCES += \
	%D%/borders.c %D%/borders.h \
	%D%/mod.c %D%/mod.h \
	%D%/range_ask.c %D%/range_ask.h \
	%D%/scale.c %D%/scale.h \
	%D%/scale_number.c %D%/scale_number.h \
	%D%/sections.c %D%/sections.h
