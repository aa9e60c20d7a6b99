# The admin page.  Its files are one C file, which a release has; a checkout makes it by npm, in a folder
# of its own.
page_sources = \
	%D%/build.mjs \
	%D%/package.json %D%/package-lock.json \
	%D%/src/action.js \
	%D%/src/actions/account.js \
	%D%/src/actions/build.js \
	%D%/src/actions/command.js \
	%D%/src/actions/compare.js \
	%D%/src/actions/delayed.js \
	%D%/src/actions/delivery.js \
	%D%/src/actions/index.js \
	%D%/src/actions/letters.js \
	%D%/src/actions/topic.js \
	%D%/src/actions/versions.js \
	%D%/src/actions/words.js \
	%D%/src/actions/writes.js \
	%D%/src/api.js \
	%D%/src/checks.js \
	%D%/src/clock.js \
	%D%/src/data.js \
	%D%/src/definition/add_table.js \
	%D%/src/definition/changes.js \
	%D%/src/definition/columns.js \
	%D%/src/definition/defer.js \
	%D%/src/definition/document.js \
	%D%/src/definition/draft.js \
	%D%/src/definition/entries.js \
	%D%/src/definition/join.js \
	%D%/src/definition/members.js \
	%D%/src/definition/merge.js \
	%D%/src/definition/pattern.js \
	%D%/src/definition/relations.js \
	%D%/src/definition/settings.js \
	%D%/src/definition/source.js \
	%D%/src/definition/text.js \
	%D%/src/definition/unsaved.js \
	%D%/src/delayed/runs.js \
	%D%/src/delayed/snapshots.js \
	%D%/src/delayed/tables.js \
	%D%/src/exact.js \
	%D%/src/finding.js \
	%D%/src/first.js \
	%D%/src/format.js \
	%D%/src/frame.js \
	%D%/src/html.js \
	%D%/src/index.html \
	%D%/src/jobs/buckets.js \
	%D%/src/jobs/list.js \
	%D%/src/jobs/one.js \
	%D%/src/jobs/pace.js \
	%D%/src/kept.js \
	%D%/src/keys.js \
	%D%/src/lazy.js \
	%D%/src/login.js \
	%D%/src/main.js \
	%D%/src/pages.js \
	%D%/src/palette.js \
	%D%/src/parts.js \
	%D%/src/plot.js \
	%D%/src/plots.js \
	%D%/src/route.js \
	%D%/src/screens/accounts.js \
	%D%/src/screens/activity.js \
	%D%/src/screens/cluster.js \
	%D%/src/screens/databases.js \
	%D%/src/screens/delayed.js \
	%D%/src/screens/delivery.js \
	%D%/src/screens/delivery_settings.js \
	%D%/src/screens/doctor.js \
	%D%/src/screens/jobs.js \
	%D%/src/screens/letters.js \
	%D%/src/screens/overview.js \
	%D%/src/screens/server_test.js \
	%D%/src/screens/settings.js \
	%D%/src/screens/start.js \
	%D%/src/screens/table.js \
	%D%/src/screens/tables.js \
	%D%/src/screens/topics.js \
	%D%/src/screens/trace.js \
	%D%/src/screens/verify.js \
	%D%/src/screens/versions.js \
	%D%/src/screens/words.js \
	%D%/src/session.js \
	%D%/src/sitemap.js \
	%D%/src/state.js \
	%D%/src/stream.js \
	%D%/src/style.css \
	%D%/src/table.js \
	%D%/src/text.js \
	%D%/src/theme.js \
	%D%/src/title.js \
	%D%/src/verify/differences.js \
	%D%/src/verify/documents.js \
	%D%/src/verify/export.js \
	%D%/src/verify/kinds.js \
	%D%/src/verify/report.js \
	%D%/src/verify/reports.js \
	%D%/src/verify/tables.js \
	%D%/src/versions/life.js \
	%D%/src/versions/list.js \
	%D%/src/versions/log.js \
	%D%/src/versions/one.js \
	%D%/src/versions/operations.js \
	%D%/src/versions/sent.js \
	%D%/texts/actions.json \
	%D%/texts/common.json \
	%D%/texts/delayed.json \
	%D%/texts/duty.json \
	%D%/texts/findings.json \
	%D%/texts/jobs.json \
	%D%/texts/overview.json \
	%D%/texts/sources.json \
	%D%/texts/tables.json \
	%D%/texts/verify.json \
	%D%/texts/versions.json
EXTRA_DIST += $(page_sources)
libmillrace_a_SOURCES += %D%/asset.c %D%/asset.h

if PAGE_FROM_RELEASE
nodist_libmillrace_a_SOURCES += %D%/assets.c
page_assets = %D%/assets.c
else
if PAGE_FROM_NPM
nodist_libmillrace_a_SOURCES += %D%/made/assets.c
page_assets = %D%/made/assets.c
else
libmillrace_a_SOURCES += %D%/no_assets.c
page_assets =
endif
endif

# What the browser gets is pinned by its hash, wherever it is fetched from.  Nothing that a package
# brings is run but esbuild.
%D%/made/node_modules/.package-lock.json: %D%/package.json %D%/package-lock.json
	$(AM_V_GEN)$(MKDIR_P) web/ui/made && \
	cp $(srcdir)/web/ui/package.json $(srcdir)/web/ui/package-lock.json web/ui/made && \
	{ (cd web/ui/made && $(NPM) ci --ignore-scripts --no-audit --no-fund --no-update-notifier \
	    --prefer-offline --loglevel=error >npm.log 2>&1) || \
	  { cat web/ui/made/npm.log; \
	    echo "npm could not fetch the packages of the admin page: repair its network, or configure --without-page"; \
	    exit 1; } >&2; } && \
	touch $@
%D%/made/assets.c: $(page_sources) %D%/made/node_modules/.package-lock.json
	$(AM_V_GEN)$(NODE) $(srcdir)/web/ui/build.mjs $(srcdir)/web/ui web/ui/made \
	  $(page_sources:%=$(srcdir)/%)

# A release without the page would need npm, as a checkout does.
.PHONY: page-to-release
dist-hook: page-to-release
page-to-release: $(page_assets)
	@test -n "$(page_assets)" || { echo "a release has the admin page: configure --with-page" >&2; exit 1; }
	$(MKDIR_P) $(distdir)/web/ui
	rm -f $(distdir)/web/ui/assets.c
	page=$(page_assets); test -f $$page || page=$(srcdir)/$$page; cp $$page $(distdir)/web/ui/assets.c

.PHONY: clean-page distclean-page
clean-local: clean-page
clean-page:
	rm -rf web/ui/made/src web/ui/made/assets.c
distclean-local: distclean-page
distclean-page:
	rm -rf web/ui/made
