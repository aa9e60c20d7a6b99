# APP_WARNINGS
# ------------
# Collect the warnings this compiler understands into WARN_CFLAGS, which the
# makefiles put in AM_CFLAGS.  CFLAGS itself belongs to whoever runs configure.
AC_DEFUN([APP_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat warnings as errors, abort on a wrong
      order of locks (CI and developers)])])
  WARN_CFLAGS=
  for flag in -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
      -Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wvla -Wundef \
      -Wimplicit-fallthrough -Wswitch-enum -Wnull-dereference -Wthread-safety; do
    APP_IF_CFLAG([$flag], [WARN_CFLAGS="$WARN_CFLAGS $flag"])
  done
  AS_IF([test "x$enable_werror" = xyes], [
    WARN_CFLAGS="$WARN_CFLAGS -Werror"
    AC_DEFINE([LOCK_CHECKS], [1], [Abort when locks are taken in a wrong order.])])
  for flag in -fvisibility=hidden -fstack-protector-strong; do
    APP_IF_CFLAG([$flag], [WARN_CFLAGS="$WARN_CFLAGS $flag"])
  done
  AC_SUBST([WARN_CFLAGS])
])

# APP_HARDENING
# -------------
# What makes a fault in memory harder to use, as far as compiler and linker have it: checked copies,
# addresses that are fixed before the program begins, returns and jumps that the processor checks.
# The sanitizers replace the checked copies.  After APP_ARG_SANITIZERS.
AC_DEFUN([APP_HARDENING], [
  HARDEN_CFLAGS= HARDEN_LDFLAGS=
  for flag in -fPIE -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard; do
    APP_IF_CFLAG([$flag], [HARDEN_CFLAGS="$HARDEN_CFLAGS $flag"])
  done
  AS_IF([test "x$enable_sanitizers" = xno],
    [APP_IF_CFLAG([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -include string.h],
      [HARDEN_CFLAGS="$HARDEN_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"])])
  app_saved_ldflags=$LDFLAGS
  for flag in -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack; do
    LDFLAGS="$app_saved_ldflags $flag -fPIE"
    AC_MSG_CHECKING([whether the linker accepts $flag])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); HARDEN_LDFLAGS="$HARDEN_LDFLAGS $flag"], [AC_MSG_RESULT([no])])
  done
  LDFLAGS=$app_saved_ldflags
  AC_SUBST([HARDEN_CFLAGS])
  AC_SUBST([HARDEN_LDFLAGS])
])

# APP_IF_CFLAG(FLAG, THEN)
AC_DEFUN([APP_IF_CFLAG], [
  app_saved_cflags=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_MSG_CHECKING([whether $CC accepts $1])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes]); $2], [AC_MSG_RESULT([no])])
  CFLAGS=$app_saved_cflags
])

# APP_ARG_SANITIZERS
AC_DEFUN([APP_ARG_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST], [comma list: address,undefined or thread])],
    [], [enable_sanitizers=no])
  SAN_FLAGS=
  AS_IF([test "x$enable_sanitizers" != xno],
    [SAN_FLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"])
  AC_SUBST([SAN_FLAGS])
])

# APP_ARG_FUZZERS
# Build tests/fuzz with libFuzzer (needs clang).
AC_DEFUN([APP_ARG_FUZZERS], [
  AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers], [build the libFuzzer programs of tests/fuzz (CC=clang)])],
    [], [enable_fuzzers=no])
  AS_IF([test "x$enable_fuzzers" = xyes], [SAN_FLAGS="$SAN_FLAGS -fsanitize=fuzzer-no-link"])
  AM_CONDITIONAL([FUZZERS], [test "x$enable_fuzzers" = xyes])
])

# APP_LIB_MYSQL
# Choose the client library: --with-mysql=auto takes libmariadb when it is there.
AC_DEFUN([APP_LIB_MYSQL], [
  AC_ARG_WITH([mysql],
    [AS_HELP_STRING([--with-mysql=LIB], [auto, mariadb or mysql: the client library (auto)])],
    [], [with_mysql=auto])
  mysql_library=no
  AS_CASE([$with_mysql], [auto|mariadb|mysql], [],
    [AC_MSG_ERROR([--with-mysql is auto, mariadb or mysql, not $with_mysql])])
  AS_IF([test "x$with_mysql" != xmysql],
    [PKG_CHECK_MODULES([MYSQL], [libmariadb], [mysql_library=libmariadb], [:])])
  AS_IF([test "x$with_mysql" != xmariadb && test "x$mysql_library" = xno],
    [PKG_CHECK_MODULES([MYSQL], [mysqlclient >= 8.0], [mysql_library=libmysqlclient], [:])])
  AS_IF([test "x$mysql_library" = xno],
    [AC_MSG_ERROR([no MySQL client library found; on Debian: apt-get install libmariadb-dev])])
  AS_IF([test "x$mysql_library" = xlibmariadb],
    [AC_DEFINE([HAVE_LIBMARIADB], [1], [Build against libmariadb])],
    [AC_DEFINE([HAVE_LIBMYSQLCLIENT], [1], [Build against libmysqlclient])])
  AM_CONDITIONAL([HAVE_LIBMARIADB], [test "x$mysql_library" = xlibmariadb])
])

# APP_LIB_ZOOKEEPER
# The ZooKeeper client for a cluster: --with-zookeeper=auto takes it when it is there.  Debian's has
# no pkg-config file, and no TLS.
AC_DEFUN([APP_LIB_ZOOKEEPER], [
  AC_ARG_WITH([zookeeper],
    [AS_HELP_STRING([--with-zookeeper=WHEN], [auto, yes or no: coordination by ZooKeeper (auto)])],
    [], [with_zookeeper=auto])
  AS_CASE([$with_zookeeper], [auto|yes|no], [],
    [AC_MSG_ERROR([--with-zookeeper is auto, yes or no, not $with_zookeeper])])
  have_zookeeper=no zookeeper_tls=no ZOOKEEPER_LIBS=
  AS_IF([test "x$with_zookeeper" != xno], [
    AC_CHECK_HEADER([zookeeper/zookeeper.h],
      [AC_CHECK_LIB([zookeeper_mt], [zookeeper_init2], [have_zookeeper=yes], [], [-lpthread -lm])])
    AS_IF([test "x$with_zookeeper$have_zookeeper" = xyesno],
      [AC_MSG_ERROR([no ZooKeeper client found; on Debian: apt-get install libzookeeper-mt-dev])])])
  AS_IF([test "x$have_zookeeper" = xyes], [
    ZOOKEEPER_LIBS=-lzookeeper_mt
    AC_DEFINE([HAVE_ZOOKEEPER], [1], [Build with the ZooKeeper client])
    AC_CHECK_LIB([zookeeper_mt], [zookeeper_init_ssl], [zookeeper_tls=yes
      AC_DEFINE([HAVE_ZOOKEEPER_TLS], [1], [The ZooKeeper client speaks TLS])], [], [-lpthread -lm])])
  AC_SUBST([ZOOKEEPER_LIBS])
  AM_CONDITIONAL([HAVE_ZOOKEEPER], [test "x$have_zookeeper" = xyes])
])

# APP_PAGE
# --------
# Where the page of the admin comes from: from the release, which has it made; from npm, which the
# build then calls; or from nowhere, and the status page takes its place.
AC_DEFUN([APP_PAGE], [
  AC_ARG_WITH([page],
    [AS_HELP_STRING([--without-page], [build no admin page: the status page takes its place
      (default: build it if the release has it, or node >= 18 and npm are here)])],
    [], [with_page=auto])
  AC_CHECK_PROG([NPM], [npm], [npm], [no])
  AC_CHECK_PROG([NODE], [node], [node], [no])
  page_from=nowhere
  AS_IF([test "x$with_page" = xno], [],
    [test -f "$srcdir/web/ui/assets.c"], [page_from=release],
    [test "x$NPM" != xno && test "x$NODE" != xno], [
      AC_MSG_CHECKING([whether node is 18 or newer])
      AS_IF([test "`$NODE -p 'process.versions.node.split(".").shift() >= 18'`" = true],
        [AC_MSG_RESULT([yes]); page_from=npm], [AC_MSG_RESULT([no])])])
  AS_IF([test "x$with_page" = xyes && test $page_from = nowhere],
    [AC_MSG_ERROR([the page needs node >= 18 and npm: install nodejs and npm, or configure --without-page])])
  AM_CONDITIONAL([PAGE_FROM_RELEASE], [test $page_from = release])
  AM_CONDITIONAL([PAGE_FROM_NPM], [test $page_from = npm])
])
