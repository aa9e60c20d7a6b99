TEST_EXTENSIONS = .sh .tap
LOG_DRIVER      = env AM_TAP_AWK='$(AWK)' CMOCKA_MESSAGE_OUTPUT=TAP \
                  $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER    = $(SHELL) $(top_srcdir)/tests/tap.sh

# A .tap test is a shell script that speaks TAP, usually one that runs a program with a server.
TAP_LOG_DRIVER   = $(LOG_DRIVER)
TAP_LOG_COMPILER = $(LOG_COMPILER) $(SHELL)

EXTRA_DIST += %D%/unit/unit.h
lints = %D%/lint/banned.sh %D%/lint/completion.sh %D%/lint/docs.sh %D%/lint/headers.sh \
	%D%/lint/layers.sh
TESTS              += $(lints)
dist_noinst_SCRIPTS += %D%/tap.sh $(lints) %D%/integration/oracle.py
dist_noinst_SCRIPTS += %D%/integration/build_mysqlclient.sh %D%/integration/mysql_servers.sh
SH_LOG_COMPILER     = $(SHELL)
AM_TESTS_ENVIRONMENT = top_srcdir='$(top_srcdir)'; top_builddir='$(top_builddir)'; \
                       LINT_CC='$(CC) $(AM_CPPFLAGS) $(CPPFLAGS)'; \
                       export top_srcdir top_builddir LINT_CC;

# A test links exactly the libraries its layer may see: a base test that needs
# libsync.a is a layering bug and fails to link.
all_libs = $(FYAML_LIBS) $(MHD_LIBS) $(CURL_LIBS) $(SQLITE_LIBS) $(MYSQL_LIBS) $(CJSON_LIBS) \
	$(ZSTD_LIBS) $(ZLIB_LIBS) $(XXHASH_LIBS) $(GNUTLS_LIBS) -lm
base_test_ldadd      = $(base_libs) $(CMOCKA_LIBS)
service_test_ldadd   = $(service_libs) $(CMOCKA_LIBS) $(all_libs)
binlog_test_ldadd    = $(binlog_libs) $(CMOCKA_LIBS) $(all_libs)
model_test_ldadd     = $(model_libs) $(CMOCKA_LIBS) $(all_libs)
document_test_ldadd  = $(document_libs) $(CMOCKA_LIBS) $(all_libs)
delivery_test_ldadd  = $(delivery_libs) $(CMOCKA_LIBS) $(all_libs)
sync_test_ldadd      = $(sync_libs) $(CMOCKA_LIBS) $(all_libs)
rebalance_test_ldadd = $(rebalance_libs) $(CMOCKA_LIBS) $(all_libs)
web_test_ldadd       = $(web_libs) $(CMOCKA_LIBS) $(all_libs)

include %D%/fakes/local.mk

if HAVE_CMOCKA
unit_tests =
include %D%/unit/base.mk
include %D%/unit/service.mk
include %D%/unit/binlog.mk
include %D%/unit/model.mk
include %D%/unit/document.mk
include %D%/unit/delivery.mk
include %D%/unit/sync.mk
include %D%/unit/rebalance.mk
include %D%/unit/web.mk
include %D%/unit/program.mk
check_PROGRAMS += $(unit_tests)
TESTS          += $(unit_tests)
endif

include %D%/component/local.mk
include %D%/golden/local.mk
include %D%/fuzz/local.mk
include %D%/bench/local.mk
