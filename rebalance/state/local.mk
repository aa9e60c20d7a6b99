# What the coordinator knows: topics, catalogue of versions, definitions.
libmillrace_a_SOURCES += \
	%D%/catalogue.c \
	%D%/catalogue.h \
	%D%/coordinator.h \
	%D%/definition.c \
	%D%/errands.c \
	%D%/holds.c \
	%D%/holds.h \
	%D%/parts.h \
	%D%/queue_watch.h \
	%D%/state.c \
	%D%/topics.c \
	%D%/topics.h
