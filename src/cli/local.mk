# The commands; client and session.
libmillrace_a_SOURCES += \
	%D%/apply.c %D%/apply.h \
	%D%/backup.c \
	%D%/binlog.c \
	%D%/build.c \
	%D%/client.c %D%/client.h \
	%D%/command.c %D%/command.h \
	%D%/commands.h \
	%D%/complete.c %D%/complete.h \
	%D%/config.c \
	%D%/dead_letter.c \
	%D%/definition_files.h \
	%D%/delivery.c \
	%D%/help.c %D%/help.h \
	%D%/index.c \
	%D%/init.c \
	%D%/init_config.c %D%/init_config.h \
	%D%/node.c \
	%D%/noun.c \
	%D%/pause.c \
	%D%/report.c %D%/report.h \
	%D%/row.c \
	%D%/run.c \
	%D%/session.c %D%/session.h \
	%D%/settings.c %D%/settings.h \
	%D%/status.c \
	%D%/tools.c \
	%D%/verify.c
nodist_libmillrace_a_SOURCES += %D%/completion_scripts.def %D%/doc_folder.def

# The scripts of packaging/completion as C strings, each after its shell.
completion_scripts = packaging/completion/millrace.bash packaging/completion/millrace.zsh \
	packaging/completion/millrace.fish
%D%/completion_scripts.def: $(completion_scripts)
	$(AM_V_GEN)$(MKDIR_P) %D% && cd $(srcdir) && $(AWK) ' \
	  FNR == 1 { if (NR > 1) print "},"; sub(/.*\./, "", FILENAME); print "{\"" FILENAME "\"," } \
	  { gsub(/["\\]/, "\\\\&"); print "\"" $$0 "\\n\"" } \
	  END { print "}," }' $(completion_scripts) > $(abs_builddir)/$@
BUILT_SOURCES += %D%/completion_scripts.def
CLEANFILES    += %D%/completion_scripts.def

# Where `make install` puts the JSON schemas, as a C string.
%D%/doc_folder.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && printf '%s\n' '$(docdir)' | sed 's/["\\]/\\&/g; s/.*/"&"/' > $@
BUILT_SOURCES += %D%/doc_folder.def
CLEANFILES    += %D%/doc_folder.def
