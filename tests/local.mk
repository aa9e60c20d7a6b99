TEST_EXTENSIONS = .sh .tap
LOG_DRIVER      = env AM_TAP_AWK='$(AWK)' CMOCKA_MESSAGE_OUTPUT=TAP \
                  $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER    = $(SHELL) $(top_srcdir)/tests/tap.sh

# A .tap test is a shell script that speaks TAP, usually one that runs a program with a server.
TAP_LOG_DRIVER   = $(LOG_DRIVER)
TAP_LOG_COMPILER = $(LOG_COMPILER) $(SHELL)

EXTRA_DIST += %D%/unit/unit.h %D%/page/pure.test.mjs %D%/page/texts.test.mjs
# The tests that wait for long begin first.
include %D%/component/local.mk

lints = %D%/lint/banned.sh %D%/lint/completion.sh %D%/lint/containers.sh %D%/lint/docs.sh %D%/lint/format.sh \
	%D%/lint/headers.sh %D%/lint/hardened.sh %D%/lint/layers.sh %D%/lint/limits.sh %D%/lint/magic.sh \
	%D%/lint/monitoring.sh %D%/lint/mutations.sh %D%/lint/package.sh %D%/lint/page.sh %D%/lint/service.sh %D%/lint/schema.sh %D%/lint/sleeps.sh %D%/lint/tags.sh %D%/lint/unused.sh \
	%D%/page/pure.tap %D%/page/texts.tap
TESTS              += $(lints)
dist_noinst_SCRIPTS += %D%/tap.sh %D%/without_cmocka.sh $(lints) %D%/integration/oracle.py
dist_noinst_SCRIPTS += %D%/mutate/run.py
EXTRA_DIST          += %D%/mutate/list
dist_noinst_SCRIPTS += %D%/integration/build_mysqlclient.sh %D%/integration/mysql_servers.sh %D%/integration/steps.sh \
	%D%/integration/container.sh %D%/integration/debian.sh %D%/integration/debian_systemctl.sh \
	%D%/integration/quickstart.sh
SH_LOG_COMPILER     = $(SHELL)
AM_TESTS_ENVIRONMENT = top_srcdir='$(top_srcdir)'; top_builddir='$(top_builddir)'; bindir='$(bindir)'; CFLAGS='$(CFLAGS)'; \
                       LINT_CC='$(CC) $(AM_CPPFLAGS) $(CPPFLAGS)'; \
                       export top_srcdir top_builddir bindir CFLAGS LINT_CC;

# The web server over a coordinator that does nothing, in place of the real one.
web_fake_ldadd = libfakecoordinator.a $(program_libs) $(CMOCKA_LIBS)

include %D%/fakes/local.mk

if HAVE_CMOCKA
unit_tests =
include %D%/unit/local.mk
check_PROGRAMS += $(unit_tests)
TESTS          += $(unit_tests)
else
TESTS          += %D%/without_cmocka.sh
endif

include %D%/golden/local.mk
include %D%/fuzz/local.mk
include %D%/bench/local.mk
