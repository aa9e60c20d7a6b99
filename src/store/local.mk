# What survives a restart: SQLite or MySQL.
libmillrace_a_SOURCES += \
	%D%/audit.c %D%/audit.h \
	%D%/backend.c %D%/backend.h \
	%D%/build_log.c %D%/build_log.h \
	%D%/change.c %D%/change.h \
	%D%/core.c %D%/core.h \
	%D%/definition.c \
	%D%/followed.c %D%/followed.h \
	%D%/index.c \
	%D%/migrate.c %D%/migrate.h \
	%D%/mysql.c \
	%D%/mysql_alone.c %D%/mysql_alone.h \
	%D%/owned.c %D%/owned.h \
	%D%/reset.c %D%/reset.h \
	%D%/retired.c %D%/retired.h \
	%D%/shape.c \
	%D%/sqlite.c \
	%D%/sqlite_copy.c %D%/sqlite_copy.h \
	%D%/sqlite_file.c %D%/sqlite_file.h \
	%D%/sqlite_sum.c %D%/sqlite_sum.h \
	%D%/store.c %D%/store.h \
	%D%/told.c %D%/told.h \
	%D%/trouble.c \
	%D%/turn.c %D%/turn.h \
	%D%/waiting.c %D%/waiting.h \
	%D%/wish.c %D%/wish.h
