# The API.
libmillrace_a_SOURCES += \
	%D%/api.h \
	%D%/api_access.c \
	%D%/api_audit.c %D%/api_audit.h \
	%D%/api_dead_letter.c \
	%D%/api_definitions.c \
	%D%/api_delayed.c \
	%D%/api_delivery.c \
	%D%/api_index.c \
	%D%/api_node.c \
	%D%/api_pause.c \
	%D%/api_status.c \
	%D%/api_verify.c \
	%D%/caller.c %D%/caller.h \
	%D%/api_words.c \
	%D%/body.c %D%/body.h \
	%D%/delayed_order.c %D%/delayed_order.h \
	%D%/door.c %D%/door.h \
	%D%/head.c %D%/head.h \
	%D%/letter_filter.c %D%/letter_filter.h \
	%D%/openapi.c %D%/openapi.h \
	%D%/pass_on.c %D%/pass_on.h \
	%D%/request.c %D%/request.h \
	%D%/revision.c %D%/revision.h \
	%D%/routes.c %D%/routes.h \
	%D%/server.c %D%/server.h \
	%D%/wishes.c %D%/wishes.h
