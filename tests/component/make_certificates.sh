#!/bin/sh
# make_certificates.sh DIR: an authority (ca.pem) and a certificate (server.pem, server.key) that it
# signed for 127.0.0.1; ca.pem is the only authority that knows it.
set -eu
dir=$1
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
{
    openssl req -x509 $key -days 3650 -subj /CN=millrace-test-ca -keyout "$dir/ca.key" \
        -out "$dir/ca.pem"
    openssl req $key -subj /CN=127.0.0.1 -keyout "$dir/server.key" -out "$dir/server.csr"
    echo "subjectAltName=IP:127.0.0.1,DNS:db.test" >"$dir/server.ext"
    openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial 2 \
        -days 3650 -extfile "$dir/server.ext" -out "$dir/server.pem"
} >"$dir/openssl.log" 2>&1
