# What we know of the server that we read.
libmillrace_a_SOURCES += \
	%D%/known_server.c %D%/known_server.h \
	%D%/recent_gtids.c %D%/recent_gtids.h \
	%D%/schemas.c %D%/schemas.h \
	%D%/server_access.c %D%/server_access.h \
	%D%/server_info.c %D%/server_info.h
