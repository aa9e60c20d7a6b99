# The program's own parts.  libprogram.a
noinst_LIBRARIES += libprogram.a
libprogram_a_SOURCES = \
	%D%/app.c             %D%/app.h \
	%D%/client.c          %D%/client.h \
	%D%/command.c         %D%/command.h \
	%D%/command_apply.c \
	%D%/command_binlog.c \
	%D%/command_config.c \
	%D%/command_delivery.c \
	%D%/command_dead_letter.c \
	%D%/command_help.c    %D%/command_help.h \
	%D%/command_index.c \
	%D%/command_noun.c \
	%D%/command_row.c \
	%D%/command_run.c \
	%D%/command_settings.c %D%/command_settings.h \
	%D%/command_status.c \
	%D%/command_table.c \
	%D%/command_tools.c \
	%D%/commands.h \
	%D%/configuration.c   %D%/configuration.h \
	%D%/configuration_file.c \
	%D%/configuration_override.c \
	%D%/configuration_show.c \
	%D%/configuration_values.c %D%/configuration_values.h \
	%D%/inspect_view.c    %D%/inspect_view.h \
	%D%/log_choice.c      %D%/log_choice.h \
	%D%/meter.c           %D%/meter.h \
	%D%/render.c          %D%/render.h \
	%D%/render_line.c     %D%/render_line.h \
	%D%/search_access.c   %D%/search_access.h \
	%D%/service.c         %D%/service.h \
	%D%/session.c         %D%/session.h \
	%D%/store_address.c   %D%/store_address.h

bin_PROGRAMS += millrace
millrace_SOURCES = %D%/main.c
millrace_LDADD   = libprogram.a $(web_libs) $(FYAML_LIBS) $(MHD_LIBS) $(CURL_LIBS) $(SQLITE_LIBS) $(MYSQL_LIBS) \
	$(ZOOKEEPER_LIBS) $(CJSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(XXHASH_LIBS) $(GNUTLS_LIBS) -lm
