# Runs that write documents of delayed tables again.
libmillrace_a_SOURCES += \
	%D%/builds.c %D%/builds.h \
	%D%/cost.c \
	%D%/orders.c %D%/orders.h \
	%D%/page.c %D%/page.h \
	%D%/parts.c %D%/parts.h %D%/parts_state.c \
	%D%/runs.c %D%/runs.h
