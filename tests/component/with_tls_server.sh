#!/bin/sh
# with_tls_server.sh PROGRAM [ARGUMENT...]: run PROGRAM with a private HTTPS server, then remove it.
#
# The server (openssl s_server) answers every GET with a page.  Its certificate is for 127.0.0.1 and
# signed by an authority of its own.  A second one wants a certificate of its clients, too.  PROGRAM
# finds in the environment:
#   TLS_TEST_PORT         where the server is (127.0.0.1)
#   TLS_TEST_STRICT_PORT  where the second one is
#   TLS_TEST_DIR          a scratch folder with ca.pem, client.pem and client.key that it signed, and
#                         other.pem and other.key, an authority that signed nothing
set -eu

fail() { # one failed test that says why, as TAP
    echo "1..1"
    echo "not ok 1 - $*"
    exit 1
}

command -v openssl >/dev/null || fail "openssl is not installed: apt-get install openssl"

dir=$(mktemp -d "${TMPDIR:-/tmp}/millrace-test.XXXXXX")
servers=
clean() {
    for server in $servers; do
        { kill -9 "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || :
    done
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

make_authority() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
        -subj "/CN=millrace-test-$1" -keyout "$dir/$1.key" -out "$dir/$1.pem"
}

make_certificates() {
    make_authority ca
    make_authority other
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=127.0.0.1 \
        -keyout "$dir/server.key" -out "$dir/server.csr"
    echo "subjectAltName=IP:127.0.0.1" >"$dir/server.ext"
    openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial 2 \
        -days 3650 -extfile "$dir/server.ext" -out "$dir/server.pem"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=client \
        -keyout "$dir/client.key" -out "$dir/client.csr"
    openssl x509 -req -in "$dir/client.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial 3 \
        -days 3650 -out "$dir/client.pem"
}
make_certificates >"$dir/openssl.log" 2>&1 || fail "openssl: $(tail -n 1 "$dir/openssl.log")"

# start OPTION...: one more server; sets port.  It prints "ACCEPT 127.0.0.1:PORT" once it listens.
start() {
    : >"$dir/server.log"
    openssl s_server -accept 127.0.0.1:0 -cert "$dir/server.pem" -key "$dir/server.key" -www "$@" \
        </dev/null >"$dir/server.log" 2>&1 &
    server=$!
    servers="$servers $server"
    port=
    while [ -z "$port" ] && kill -0 "$server" 2>/dev/null; do
        port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$dir/server.log")
        [ -n "$port" ] || sleep 0.05
    done
    [ -n "$port" ] || fail "openssl s_server: $(tail -n 1 "$dir/server.log")"
}

start
export TLS_TEST_PORT="$port" TLS_TEST_DIR="$dir"
start -Verify 1 -verify_return_error -CAfile "$dir/ca.pem"
export TLS_TEST_STRICT_PORT="$port"
"$@"
