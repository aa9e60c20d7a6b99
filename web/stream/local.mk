# Streams of the node's status.
libmillrace_a_SOURCES += \
	%D%/feed.c %D%/feed.h \
	%D%/streams.c %D%/streams.h
