#!/bin/sh
# with_mariadb.sh PROGRAM [ARGUMENT...]: run PROGRAM with a private MariaDB server, then remove it.
#
# The server has its own data folder and a free port, a binlog in row format with full metadata,
# TLS, and root without a password.  PROGRAM finds in the environment:
#   MYSQL_TEST_PORT    where the server is (127.0.0.1 and 127.0.0.2); MYSQL_TEST_SOCKET its socket
#   MYSQL_TEST_DIR     a scratch folder; ca.pem is the authority that signed the server's certificate
#   MYSQL_TEST_DATA    the server's data folder, MYSQL_TEST_PID its process
# MARIADBD_OPTIONS adds options of mariadbd.
set -eu

fail() { # one failed test that says why, as TAP
    echo "1..1"
    echo "not ok 1 - $*"
    exit 1
}

command -v mariadbd >/dev/null || fail "mariadbd is not installed: apt-get install mariadb-server"
command -v mariadb >/dev/null || fail "mariadb is not installed: apt-get install mariadb-client"
command -v openssl >/dev/null || fail "openssl is not installed: apt-get install openssl"

# Tests make and drop hundreds of tables, which memory has a lot less work with than a disk.
room=${TMPDIR:-/tmp}
shm=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
[ "${shm:-0}" -lt 2000000 ] || [ ! -w /dev/shm ] || room=/dev/shm
dir=$(mktemp -d "$room/millrace-test.XXXXXX")
server=
clean() {
    [ -z "$server" ] || { kill -9 "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || :
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

sh "$(dirname "$0")/make_certificates.sh" "$dir" || fail "openssl: $(tail -n 1 "$dir/openssl.log")"

# A server that starts deletes every other server's temporary tables in its folder for them.
mkdir "$dir/tmp"
user=$(id -un)
TMPDIR="$dir/tmp" mariadb-install-db --no-defaults --datadir="$dir/data" --user="$user" --skip-test-db \
    --auth-root-authentication-method=normal --innodb-log-file-size=16M >"$dir/install.log" 2>&1 ||
    fail "mariadb-install-db: $(tail -n 1 "$dir/install.log")"

start_server() { # on port $1
    mariadbd --no-defaults --user="$user" --datadir="$dir/data" --socket="$dir/socket" \
        --pid-file="$dir/pid" --tmpdir="$dir/tmp" --port="$1" --bind-address=127.0.0.1,127.0.0.2 --server-id=1 \
        --log-bin=binlog --binlog-format=ROW --binlog-row-metadata=FULL --log-slave-updates \
        --ssl-cert="$dir/server.pem" --ssl-key="$dir/server.key" --ssl-ca="$dir/ca.pem" \
        --innodb-log-file-size=16M --innodb-buffer-pool-size=64M --skip-innodb-doublewrite \
        --innodb-flush-log-at-trx-commit=0 --sync-binlog=0 --max-allowed-packet=64M \
        ${MARIADBD_OPTIONS:-} >>"$dir/server.log" 2>&1 &
    server=$!
    tries=600
    while kill -0 "$server" 2>/dev/null && [ $((tries -= 1)) -gt 0 ]; do
        mariadb --no-defaults --socket="$dir/socket" --user=root -e 'DO 1' >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    kill -9 "$server" 2>/dev/null || :
    wait "$server" 2>/dev/null || :
    server=
    return 1
}
for try in 1 2 3 4 5; do
    port=$(awk -v seed="$$$try" 'BEGIN { srand(seed); print 22000 + int(rand() * 8000) }')
    ! start_server "$port" || break
done
[ -n "$server" ] || fail "mariadbd: $(tail -n 1 "$dir/server.log")"

export MYSQL_TEST_SOCKET="$dir/socket" MYSQL_TEST_PORT="$port" MYSQL_TEST_DIR="$dir"
export MYSQL_TEST_DATA="$dir/data" MYSQL_TEST_PID="$server"
"$@"
