#!/bin/sh
# with_zookeeper.sh PROGRAM [ARGUMENT...]: run PROGRAM with a private ZooKeeper, then remove it.
#
# PROGRAM finds in the environment:
#   ZOOKEEPER_TEST_PORT        where the server is (127.0.0.1)
#   ZOOKEEPER_TEST_ALONE_PORT  where one of three is, whose two others do not run: it serves those only who
#                              do not want to write
# ZOOKEEPER_TEST_WAITERS=N has so many wait for one lock.
set -eu

fail() { # one failed test that says why, as TAP
    echo "1..1"
    echo "not ok 1 - $*"
    exit 1
}

[ -e /usr/share/java/zookeeper.jar ] || fail "zookeeper is not installed: apt-get install zookeeper"
node=$(dirname "$0")/../../tools/zookeeper/node

dir=$(mktemp -d "${TMPDIR:-/tmp}/millrace-test.XXXXXX")
clean() {
    for name in server alone; do
        bash "$node" stop --data "$dir/$name" || :
    done
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

start() { # NAME: one more server; sets port
    for try in 1 2 3 4 5; do
        port=$(awk -v seed="$$$try${#1}" 'BEGIN { srand(seed); print 22000 + int(rand() * 8000) }')
        ensemble=
        [ "$1" != alone ] || ensemble="$port,$((port + 1)),$((port + 2))"
        bash "$node" start --data "$dir/$1" --port "$port" --ensemble "$ensemble" 2>"$dir/start.log" &&
            return 0
        rm -rf "${dir:?}/$1"
    done
    fail "zookeeper: $(tail -n 1 "$dir/start.log")"
}

start alone
export ZOOKEEPER_TEST_ALONE_PORT="$port"
start server
export ZOOKEEPER_TEST_PORT="$port"
"$@"
