# HTTP, sets of addresses, request signing, paths of sockets.
libmillrace_a_SOURCES += \
	%D%/address.c %D%/address.h \
	%D%/address_set.c %D%/address_set.h \
	%D%/aws_credentials.c %D%/aws_credentials.h \
	%D%/hook.c %D%/hook.h \
	%D%/http.h \
	%D%/http_client.c %D%/http_client.h \
	%D%/http_exchange.c %D%/http_exchange.h \
	%D%/reach.c %D%/reach.h \
	%D%/sigv4.c %D%/sigv4.h \
	%D%/unix_path.c %D%/unix_path.h
