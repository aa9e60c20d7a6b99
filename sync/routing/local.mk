# Which table leads to which index versions; foreign keys.
libmillrace_a_SOURCES += \
	%D%/cascade_plan.c %D%/cascade_plan.h \
	%D%/cascade_review.c %D%/cascade_review.h \
	%D%/compile.c %D%/compile.h \
	%D%/routing.c %D%/routing.h \
	%D%/rows_at.h \
	%D%/shapes.c %D%/shapes.h \
	%D%/shapes_store.c %D%/shapes_store.h \
	%D%/wanted_versions.c %D%/wanted_versions.h
