# Pipelines as the definitions want them; failover, gap, reset.
libmillrace_a_SOURCES += \
	%D%/failover.c %D%/failover.h \
	%D%/gap.c %D%/gap.h \
	%D%/give_back.c %D%/give_back.h \
	%D%/lost.c %D%/lost.h \
	%D%/orders.h \
	%D%/pause.c \
	%D%/reset.c %D%/reset.h \
	%D%/take_over.c %D%/take_over.h \
	%D%/things.c %D%/things.h \
	%D%/told.c %D%/told.h \
	%D%/topics.c %D%/topics.h
