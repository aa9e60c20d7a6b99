# What the coordinator knows: topics, catalogue of versions, definitions.
libmillrace_a_SOURCES += \
	%D%/accounts.c \
	%D%/accounts.h \
	%D%/catalogue.c \
	%D%/catalogue.h \
	%D%/coordinator.h \
	%D%/definition.c \
	%D%/definition.h \
	%D%/errands.c \
	%D%/errands.h \
	%D%/holds.c \
	%D%/holds.h \
	%D%/identity.c \
	%D%/identity.h \
	%D%/members.h \
	%D%/names.c \
	%D%/names.h \
	%D%/owned.c \
	%D%/owned.h \
	%D%/parts.h \
	%D%/pauses.c \
	%D%/pauses.h \
	%D%/queue_watch.h \
	%D%/put_off.c %D%/put_off.h \
	%D%/runs.c \
	%D%/runs.h \
	%D%/state.c \
	%D%/state.h \
	%D%/stored_view.c \
	%D%/stored_view.h \
	%D%/topics.c \
	%D%/topics.h \
	%D%/turns.c \
	%D%/turns.h
