# Requirements of servers, tables, the engine.
libmillrace_a_SOURCES += \
	%D%/doctor.c %D%/doctor.h \
	%D%/mysql.h \
	%D%/server.c \
	%D%/table.c \
	%D%/visit.c %D%/visit.h
