#!/usr/bin/env bash
# mysql_servers.sh BUILD-FOLDER [FLAVOUR...]: the component tests of what talks to MySQL, on every server.
#
# FLAVOURs are those of tools/mysql/server, all four without an argument; those of MySQL run what
# depends on it also without GTIDs.  One that cannot be fetched or started is a failure.  Output is TAP, one line a test program.  MYSQL_TEST_RUNNER is
# put before each program (the loader of another system).
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
build=$(cd "${1:?the build folder}" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- mariadb mariadb11 mysql8 mysql9
server=$repo/tools/mysql/server
n=0 failed=0

result() { # ok|not NAME LOG
    n=$((n + 1))
    if [ "$1" = ok ]; then
        echo "ok $n - $2"
    else
        failed=$((failed + 1))
        echo "not ok $n - $2"
        sed 's/^/# /' "$3" | tail -n 40
    fi
}

# run_flavour FLAVOUR [nogtid]
run_flavour() {
    local dir program port options name=$1
    local programs=(test_buckets test_mysql test_transport test_log_reader test_read_view "test_store mysql" "test_store_faults mysql"
        test_doctor)
    dir=$(mktemp -d "${TMPDIR:-/tmp}/millrace-$1.XXXXXX")
    port=$(awk -v seed="$$$n" 'BEGIN { srand(seed); print 22000 + int(rand() * 8000) }')
    options=()
    unset MYSQL_TEST_ED25519
    if [ "$1" = mariadb ]; then # with ed25519, which is in another package
        "$server" fetch --flavour plugins &&
            options=(--plugin-dir="$repo/tools/cache/plugins/usr/lib/mysql/plugin")
        export MYSQL_TEST_ED25519=1
    fi
    if [ "${2-}" = nogtid ]; then
        name="$1 without GTIDs"
        options=(--gtid-mode=OFF --enforce-gtid-consistency=OFF)
        programs=(test_transport test_log_reader test_read_view)
    fi
    sh "$repo/tests/component/make_certificates.sh" "$dir"
    if "$server" start --data "$dir" --port "$port" --flavour "$1" -- \
        --bind-address=127.0.0.1,127.0.0.2 --log-slave-updates --ssl-ca="$dir/ca.pem" \
        --ssl-cert="$dir/server.pem" --ssl-key="$dir/server.key" ${options[@]+"${options[@]}"} > "$dir/start.log" 2>&1; then
        export MYSQL_TEST_PORT=$port MYSQL_TEST_DIR=$dir MYSQL_TEST_DATA=$dir/data
        MYSQL_TEST_PASSWORD=$(cat "$dir/password")
        MYSQL_TEST_PID=$(cat "$dir/pid")
        export MYSQL_TEST_PASSWORD MYSQL_TEST_PID top_srcdir=$repo
        for program in "${programs[@]}"; do
            # shellcheck disable=SC2086
            if ${MYSQL_TEST_RUNNER:-} "$build"/tests/component/$program > "$dir/$n.log" 2>&1; then
                result ok "$name: $program" "$dir/$n.log"
            else
                result not "$name: $program" "$dir/$n.log"
            fi
        done
    else
        result not "$name: starts" "$dir/start.log"
    fi
    "$server" stop --data "$dir"
    rm -rf "$dir"
}

for flavour; do
    run_flavour "$flavour"
    case $flavour in mysql*) run_flavour "$flavour" nogtid ;; esac
done
echo "1..$n"
[ "$failed" = 0 ]
