# TLS of the port: its certificate, and what decrypts and encrypts.
libmillrace_a_SOURCES += \
	%D%/tls_keys.c %D%/tls_keys.h \
	%D%/tls_pipe.c %D%/tls_pipe.h \
	%D%/tls_relay.c %D%/tls_relay.h
