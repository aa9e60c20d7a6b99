# Sockets that listen, the addresses of those who come, and the threads that answer them.
libmillrace_a_SOURCES += \
	%D%/address.c %D%/address.h \
	%D%/listen.c %D%/listen.h \
	%D%/places.c %D%/places.h \
	%D%/pool.c %D%/pool.h \
	%D%/prefix.c %D%/prefix.h
