#!/usr/bin/env bash
# build_mysqlclient.sh: Millrace builds and works with libmysqlclient instead of libmariadb.
#
# Debian has that library in sid only: a tree of sid (kept as tools/cache/mysqlclient) builds the
# files of this checkout with --with-mysql=mysql; then the component tests of what talks to MySQL
# run with that build at MySQL 9 and MariaDB.  Needs root (or sudo) for
# debootstrap and chroot.  Output is TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
# shellcheck source=tools/lib.sh
. "$repo/tools/lib.sh"
# shellcheck source=tests/integration/steps.sh
. "$here/steps.sh"
cache=$repo/tools/cache
root=$cache/mysqlclient

# What the build needs here, with the other library; mysql-client-core has its plugin for MariaDB.
packages() {
    awk '$1 == "build:" || $1 == "test:" { for (i = 2; i <= NF; i++) print $i }' \
        "$repo/tools/packages" | grep -vx -e libmariadb-dev -e "python3.*" -e openssl -e curl -e zsh -e fish -e yamllint -e docker-compose -e stunnel4 |
        sort -u | paste -sd, -
    echo ,libmysqlclient-dev,mysql-client-core
}

fetch() {
    [ -d "$root" ] && return 0
    need_packages others
    mkdir -p "$cache"
    as_root rm -rf "$root.part"
    say "fetching mysqlclient: debootstrap of Debian sid"
    as_root debootstrap --variant=minbase --include="$(packages | tr -d '\n')" sid "$root.part" &&
        as_root mv "$root.part" "$root"
}

copy_source() {
    as_root rm -rf "$root/millrace" && sources | as_root tar x -C "$root"
}

build() {
    as_root chroot "$root" /bin/sh -c 'cd /millrace && ./autogen.sh && mkdir -p build && cd build &&
        ../configure -q --with-mysql=mysql CFLAGS="-O2 -g" &&
        grep -q "define HAVE_LIBMYSQLCLIENT 1" config.h && make -s -j"$(nproc)" &&
        ldd millrace | grep libmysqlclient'
}

# Only what depends on the client library is run: other libraries of sid are newer as well.
test_programs() {
    as_root chroot "$root" /bin/sh -c 'cd /millrace/build && make -s -j"$(nproc)" check TESTS= &&
        tests/unit/test_transport'
}

step "mysqlclient: a tree of Debian sid" fetch
step "mysqlclient: the sources" copy_source
step "mysqlclient: builds with --with-mysql=mysql" build
step "mysqlclient: the test programs" test_programs

# Programs of sid run here with sid's loader and libraries.
lib=$root/usr/lib/x86_64-linux-gnu
MYSQL_TEST_RUNNER="$root/usr/lib64/ld-linux-x86-64.so.2 --library-path $lib"
[ -e "$root/usr/lib64/ld-linux-x86-64.so.2" ] ||
    MYSQL_TEST_RUNNER="$lib/ld-linux-x86-64.so.2 --library-path $lib"
export MYSQL_TEST_RUNNER LIBMYSQL_PLUGIN_DIR="$root/usr/lib/mysql/plugin"
servers() {
    "$here/mysql_servers.sh" "$root/millrace/build" mysql9 mariadb
}
servers > "$log" 2>&1 < /dev/null
while read -r line; do
    case $line in
        "ok "*) result ok "mysqlclient: ${line#* - }" ;;
        "not ok "*) result not "mysqlclient: ${line#* - }" /dev/null ;;
        "# "*) echo "$line" ;;
    esac
done < "$log"
finish
