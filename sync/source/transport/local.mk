# A binlog from a server or a file.
libmillrace_a_SOURCES += \
	%D%/file.c \
	%D%/server.c \
	%D%/transport.c %D%/transport.h \
	%D%/wire.h
if HAVE_LIBMARIADB
libmillrace_a_SOURCES += %D%/libmariadb.c
else
libmillrace_a_SOURCES += %D%/libmysqlclient.c
endif
