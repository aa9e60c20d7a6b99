#!/usr/bin/env bash
# container.sh: packaging/container/Dockerfile builds an image of this checkout, and the daemon in it
# runs as a user of its own who can write to the volume alone.
#
# Debian's buildah builds it, and no registry is asked: the base image is made by debootstrap (kept as
# tools/cache/bookworm.tar).  buildah needs no kernel's help with --isolation chroot: commands in the
# image share the network and the processes of this machine.  Needs root (or sudo).  Output is TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
# shellcheck source=tools/lib.sh
. "$repo/tools/lib.sh"
# shellcheck source=tests/integration/steps.sh
. "$here/steps.sh"
base=$repo/tools/cache/bookworm.tar
work=$repo/tests/run/container
need_packages container

build_with() {
    as_root buildah --root "$work/images" --runroot "$work/state" --storage-driver vfs "$@"
}
# in_image COMMAND...: as the image's user.
in_image() {
    build_with run --isolation chroot --env MILLRACE_LISTEN=127.0.0.1:0 \
        --env "MILLRACE_METRICS__LISTEN=127.0.0.1:$port" --env MILLRACE_SEARCH__URL=http://127.0.0.1:1 \
        "$container" -- "$@"
}

a_base() {
    as_root rm -rf "$work"
    mkdir -p "$work/base" "${base%/*}"
    if [ ! -e "$base" ]; then
        as_root debootstrap --variant=minbase bookworm "$work/root" &&
            as_root tar c -C "$work/root" -f "$base.part" . && as_root mv "$base.part" "$base" || return 1
    fi
    ln "$base" "$work/base/base.tar" && echo "FROM scratch
ADD base.tar /" > "$work/base/Dockerfile" && build_with build --tag base "$work/base"
}

builds() {
    cp -r "$repo/packaging/container" "$work/context" && sources > "$work/context/millrace.tar" &&
        build_with build --isolation chroot --format docker --build-arg BASE=localhost/base --tag millrace \
            "$work/context"
}

says_its_version() {
    container=$(build_with from --pull-never localhost/millrace) &&
        in_image millrace --version | grep -xE "millrace [0-9.]+(-[a-z0-9.]+)?"
}

writes_to_its_volume_alone() {
    in_image sh -c 'id && [ "$(id -u)" = 10001 ] && find / -xdev -writable ! -type l \
        ! -path "/proc/*" ! -path "/sys/*" ! -path "/dev/*" ! -path "/tmp*" ! -path "/var/tmp*" \
        ! -path /run/lock ! -path "/var/lib/millrace*" 2> /dev/null' > "$work/writable"
    cat "$work/writable" && [ "$(wc -l < "$work/writable")" = 1 ]
}

has_nothing_to_build_with() {
    in_image sh -c '! command -v gcc && ! command -v make && ! ls /source && ! ls /var/lib/apt/lists/*'
}

# The image's own health check answers, and the probes of kubernetes.yaml do from outside.
is_healthy() {
    local check probe tries=300
    read -ra check < <(build_with inspect --type image --format \
        '{{range .Docker.Config.Healthcheck.Test}}{{.}} {{end}}' localhost/millrace)
    [ "${check[0]}" = CMD ] || return 1
    while ! in_image "${check[@]:1}"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.1
    done
    for probe in $(sed -n 's/.*httpGet: {path: \([^,]*\),.*/\1/p' "$repo/packaging/container/kubernetes.yaml"); do
        curl -fsS "http://127.0.0.1:$port$probe" || return 1
    done
}

# 75, which nightly bears, is also said when no daemon answers.
does_its_nightly_work() {
    in_image nightly now > "$work/night" 2>&1
    local status=$?
    cat "$work/night" && [ $status = 0 ] && ! grep daemon "$work/night"
}

ends_when_asked_to() {
    # shellcheck disable=SC2016 # for the shell in the image
    in_image sh -c 'kill "$(cat /var/lib/millrace/pid)"' && wait "$daemon" && daemon=
}
clean() {
    [ -z "$daemon" ] || ends_when_asked_to
    as_root rm -rf "$work"
    rm -f "$log"
} > /dev/null 2>&1

port=7710
while port_taken "$port"; do port=$((port + 1)); done
container= daemon=
trap clean EXIT
step "container: a base image by debootstrap" a_base
step "container: the image builds" builds
step "container: the program says its version" says_its_version
step "container: its user can write to the volume alone" writes_to_its_volume_alone
step "container: nothing of the build is in it" has_nothing_to_build_with
# shellcheck disable=SC2016 # for the shell in the image
in_image sh -c 'millrace run & echo $! > /var/lib/millrace/pid; wait $!' > "$work/daemon.log" 2>&1 < /dev/null &
daemon=$!
step "container: the daemon is healthy, alive and ready" is_healthy
step "container: what runs every night ends well" does_its_nightly_work
step "container: the daemon ends when it is asked to" ends_when_asked_to
finish
