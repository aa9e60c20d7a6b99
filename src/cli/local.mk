# The commands; client and session.
libmillrace_a_SOURCES += \
	%D%/apply.c \
	%D%/binlog.c \
	%D%/client.c %D%/client.h \
	%D%/command.c %D%/command.h \
	%D%/commands.h \
	%D%/config.c \
	%D%/dead_letter.c \
	%D%/delivery.c \
	%D%/example.c %D%/example.h \
	%D%/help.c %D%/help.h \
	%D%/index.c \
	%D%/init.c \
	%D%/init_config.c %D%/init_config.h \
	%D%/log_filter_args.c %D%/log_filter_args.h \
	%D%/noun.c \
	%D%/pause.c \
	%D%/report.c %D%/report.h \
	%D%/row.c \
	%D%/run.c \
	%D%/session.c %D%/session.h \
	%D%/settings.c %D%/settings.h \
	%D%/status.c \
	%D%/table.c \
	%D%/tools.c
