# Requests for topics that other nodes own.
libmillrace_a_SOURCES += \
	%D%/others.c %D%/others.h \
	%D%/wish_send.c %D%/wish_send.h \
	%D%/wishes.c %D%/wishes.h
