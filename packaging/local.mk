# The systemd units and their user, completion for three shells, containers, what monitors it, and the
# Debian package.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir  = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
systemdunitdir    = $(prefix)/lib/systemd/system
sysusersdir       = $(prefix)/lib/sysusers.d
examplesdir       = $(docdir)/examples

systemd_services = \
	%D%/systemd/millrace.service %D%/systemd/millrace-check.service \
	%D%/systemd/millrace-delayed.service %D%/systemd/millrace-replay.service
nodist_systemdunit_DATA  = $(systemd_services)
dist_systemdunit_DATA    = %D%/systemd/millrace-check.timer \
	%D%/systemd/millrace-delayed.timer %D%/systemd/millrace-replay.timer
dist_sysusers_DATA       = %D%/systemd/millrace.conf
dist_examples_DATA       = %D%/prometheus/millrace.rules.yml %D%/grafana/millrace.json
dist_fishcompletion_DATA = %D%/completion/millrace.fish
dist_noinst_DATA         = %D%/completion/millrace.bash %D%/completion/millrace.zsh
EXTRA_DIST += %D%/systemd/millrace.service.in %D%/systemd/millrace-check.service.in \
	%D%/systemd/millrace-delayed.service.in %D%/systemd/millrace-replay.service.in
EXTRA_DIST += %D%/container/Dockerfile %D%/container/compose.yaml %D%/container/database.sql \
	%D%/container/kubernetes.yaml %D%/container/nightly tools/packages %D%/prometheus/millrace.rules.test.yml
EXTRA_DIST += %D%/debian/changelog %D%/debian/control %D%/debian/copyright \
	%D%/debian/millrace.README.Debian %D%/debian/millrace.docs %D%/debian/millrace.install \
	%D%/debian/millrace.lintian-overrides %D%/debian/millrace.postinst %D%/debian/millrace.postrm \
	%D%/debian/millrace.prerm %D%/debian/millrace.tmpfiles \
	%D%/debian/millrace.yaml %D%/debian/rules %D%/debian/source/format
dist_noinst_SCRIPTS += %D%/deb
CLEANFILES += $(systemd_services)

# The brackets keep configure from replacing the name inside the recipe.
make_unit = $(AM_V_GEN)$(MKDIR_P) packaging/systemd && sed "s|[@]bindir[@]|$(bindir)|g"
%D%/systemd/millrace.service: %D%/systemd/millrace.service.in Makefile
	$(make_unit) $(srcdir)/%D%/systemd/millrace.service.in > $@
%D%/systemd/millrace-check.service: %D%/systemd/millrace-check.service.in Makefile
	$(make_unit) $(srcdir)/%D%/systemd/millrace-check.service.in > $@
%D%/systemd/millrace-delayed.service: %D%/systemd/millrace-delayed.service.in Makefile
	$(make_unit) $(srcdir)/%D%/systemd/millrace-delayed.service.in > $@
%D%/systemd/millrace-replay.service: %D%/systemd/millrace-replay.service.in Makefile
	$(make_unit) $(srcdir)/%D%/systemd/millrace-replay.service.in > $@

# bash finds a completion by the command's name, zsh by that of a function.
install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)' '$(DESTDIR)$(zshcompletiondir)'
	$(INSTALL_DATA) $(srcdir)/%D%/completion/millrace.bash '$(DESTDIR)$(bashcompletiondir)/millrace'
	$(INSTALL_DATA) $(srcdir)/%D%/completion/millrace.zsh '$(DESTDIR)$(zshcompletiondir)/_millrace'

uninstall-hook:
	rm -f '$(DESTDIR)$(bashcompletiondir)/millrace' '$(DESTDIR)$(zshcompletiondir)/_millrace'

# From the release's tarball, as it is: millrace_VERSION_ARCHITECTURE.deb.
.PHONY: deb
deb: dist
	$(srcdir)/%D%/deb $(distdir).tar.xz .
