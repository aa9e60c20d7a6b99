# The systemd unit, its user, and the completion for bash.
bashcompletiondir = $(datadir)/bash-completion/completions
systemdunitdir    = $(prefix)/lib/systemd/system
sysusersdir       = $(prefix)/lib/sysusers.d

nodist_systemdunit_DATA = %D%/systemd/millrace.service
dist_sysusers_DATA      = %D%/systemd/millrace.conf
dist_noinst_DATA        = %D%/millrace.bash
EXTRA_DIST += %D%/systemd/millrace.service.in
CLEANFILES += %D%/systemd/millrace.service

# The brackets keep configure from replacing the name inside the recipe.
%D%/systemd/millrace.service: %D%/systemd/millrace.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/systemd && \
	  sed "s|[@]bindir[@]|$(bindir)|g" $(srcdir)/%D%/systemd/millrace.service.in > $@

# bash finds a completion by the command's name.
install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) $(srcdir)/%D%/millrace.bash '$(DESTDIR)$(bashcompletiondir)/millrace'

uninstall-hook:
	rm -f '$(DESTDIR)$(bashcompletiondir)/millrace'
