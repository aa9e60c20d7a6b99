# The table of settings; file, environment, flags.
libmillrace_a_SOURCES += \
	%D%/configuration.c %D%/configuration.h \
	%D%/file.c \
	%D%/override.c \
	%D%/run_time.c \
	%D%/setting.c %D%/setting.h \
	%D%/setting_table.c \
	%D%/settings.h \
	%D%/show.c \
	%D%/store_address.c %D%/store_address.h \
	%D%/values.c %D%/values.h
