#!/usr/bin/env bash
# debian.sh: the release's tarball becomes a Debian package in which lintian finds no fault.  In a root
# of its own it is installed, upgraded, removed and purged by apt, whose maintainer scripts run for real.
#
# The root is made by mmdebstrap (kept in tools/cache) and lies in memory, in namespaces of its own:
# no port and no process of this machine is in its way.  No systemd runs there; debian_systemctl.sh
# starts the daemon as its unit says.  Build and installation have no network.  Needs a built
# checkout (build-tests/plain), and root (or sudo).  Output is TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
# shellcheck source=tools/lib.sh
. "$repo/tools/lib.sh"
# shellcheck source=tests/integration/steps.sh
. "$here/steps.sh"
work=$repo/tests/run/debian
root=$work/root
plain=$repo/build-tests/plain
base=$repo/tools/cache/bookworm-run-$(packages_of run | cksum | cut -d' ' -f1).tar

# ---- outside of the root

builds() {
    local offline=(unshare --map-current-user --net)
    "${offline[@]}" true 2> /dev/null || offline=()
    rm -rf "$work" "$plain"/millrace-*.tar.xz && mkdir -p "$work/built" &&
        make -s -C "$plain" dist XZ_OPT=-0 &&
        # What is measured elsewhere needs no optimizer; the compiler's notes are for debuggers.
        env CC='ccache gcc' DEB_CFLAGS_STRIP='-O2 -g' DEB_CFLAGS_APPEND=-O1 \
            DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)" \
            "${offline[@]}" "$repo/packaging/deb" "$plain"/millrace-*.tar.xz "$work/built"
}

# Without a word from lintian at its usual level: no error, no warning.
is_without_fault() {
    local found
    found=$(lintian --no-cfg --allow-root "$work"/built/*.changes 2>&1) && echo "$found" && [ -z "$found" ]
}

# A later version, whose configuration another one is shipped with.
a_newer_one() {
    local folder=$work/newer
    dpkg-deb -R "$work"/built/millrace_*.deb "$folder" &&
        sed -i 's/^Version: .*/Version: 99-1/' "$folder/DEBIAN/control" &&
        echo '# Of version 99.' >> "$folder/etc/millrace/millrace.yaml" &&
        dpkg-deb -Znone --root-owner-group -b "$folder" "$work/newer.deb"
}

make_base() {
    [ ! -e "$base" ] || return 0
    mkdir -p "${base%/*}"
    as_root mmdebstrap --variant=minbase --include="$(packages_of run | paste -sd,),systemd" bookworm \
        "$base.part.tar" && as_root mv "$base.part.tar" "$base"
}

# ---- in the root

in_root() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
apt() { in_root apt-get -y -q -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@"; }
pid() { cat "$root/run/millrace.pid"; }
files() { # but what apt, dpkg and their helpers write of themselves
    in_root find / -xdev ! -path '/run/*' ! -path '/tmp/*' ! -path '/var/cache/*' ! -path '/var/log/*' \
        ! -path '/var/lib/dpkg/*' ! -path '/var/lib/apt/*' ! -path '/etc/*-' ! -name .pwd.lock | sort
}
is() { # PATH OWNER:GROUP MODE
    local found
    found=$(in_root stat -c '%U:%G %a' "$1")
    [ "$found" = "$2 $3" ] || { echo "$1 is $found, not $2 $3" && return 1; }
}
has_its_token() { in_root millrace token list | grep -w deploy; }

a_root() {
    ip link set lo up && mkdir -p "$root" && mount -t tmpfs -o mode=755 debian "$root" &&
        tar x -C "$root" -f "$base" && mount -t proc proc "$root/proc" &&
        mv "$root/usr/bin/systemctl" "$root/usr/bin/systemctl.real" &&
        install -m 755 "$here/debian_systemctl.sh" "$root/usr/bin/systemctl" &&
        mkdir -p "$root/run/systemd/system" "$root/tmp/packages" &&
        cp "$work"/built/millrace_*.deb "$root/tmp/packages/first.deb" &&
        cp "$work/newer.deb" "$root/tmp/packages/newer.deb" && files > "$work/before"
}

installs() {
    apt install /tmp/packages/first.deb && is /var/lib/millrace millrace:millrace 700 &&
        is /etc/millrace root:millrace 750 && is /etc/millrace/millrace.yaml root:millrace 640
}

runs_as_its_user() {
    is "/proc/$(pid)" millrace:millrace 555 && in_root millrace status &&
        curl -fsS http://127.0.0.1:7700/livez && in_root millrace token add deploy --role viewer && has_its_token
}

# systemd finds no fault in the units. The daemon starts with the machine; what runs at night does not.
has_its_units() {
    in_root sh -c 'cd /lib/systemd/system && systemd-analyze verify --man=no millrace*.service millrace*.timer' \
        > "$work/verified" 2>&1 || { cat "$work/verified" && return 1; }
    ! grep millrace "$work/verified" && (cd "$root/etc/systemd/system" && echo ./*.wants/millrace*) > "$work/enabled" &&
        cat "$work/enabled" && [ "$(cat "$work/enabled")" = ./multi-user.target.wants/millrace.service ] &&
        [ "$(echo "$root"/lib/systemd/system/millrace*.timer | wc -w)" = 3 ]
}

# The first lines of files that init writes lead editors to the schemas.
has_what_else_is_promised() {
    local file
    for file in bash-completion/completions/millrace zsh/vendor-completions/_millrace \
        fish/vendor_completions.d/millrace.fish man/man1/millrace.1.gz doc/millrace/millrace.schema.json \
        doc/millrace/definition.schema.json doc/millrace/operations.md.gz doc/millrace/README.Debian \
        doc/millrace/examples/millrace.rules.yml doc/millrace/examples/millrace.json; do
        [ -s "$root/usr/share/$file" ] || { echo "no $file" && return 1; }
    done
}

upgrades() {
    local before
    before=$(pid)
    echo 'metrics: {listen: "127.0.0.1:7701"}' >> "$root/etc/millrace/millrace.yaml"
    cp "$root/etc/millrace/millrace.yaml" "$work/mine"
    apt install /tmp/packages/newer.deb && cmp "$work/mine" "$root/etc/millrace/millrace.yaml" &&
        is /etc/millrace/millrace.yaml root:millrace 640 &&
        grep 'Of version 99' "$root/etc/millrace/millrace.yaml.dpkg-dist" &&
        [ "$(pid)" != "$before" ] && [ ! -e "$root/proc/$before" ] && has_its_token &&
        curl -fsS http://127.0.0.1:7701/readyz
}

bears_a_fault() {
    echo 'nonsense: 1' >> "$root/etc/millrace/millrace.yaml"
    apt install --reinstall /tmp/packages/newer.deb && ! in_root systemctl is-active millrace.service &&
        grep nonsense "$root/run/millrace.log" && cp "$work/mine" "$root/etc/millrace/millrace.yaml" &&
        in_root systemctl start millrace.service && has_its_token
}

leaves_out_what_is_not_configured() {
    in_root systemctl stop millrace.service && rm "$root/etc/millrace/millrace.yaml" &&
        apt install --reinstall /tmp/packages/newer.deb && ! in_root systemctl is-active millrace.service &&
        [ ! -e "$root/etc/millrace/millrace.yaml" ] && cp "$work/mine" "$root/etc/millrace/millrace.yaml" &&
        in_root chgrp millrace /etc/millrace/millrace.yaml && in_root systemctl start millrace.service
}

removes() {
    local before
    before=$(pid)
    : > "$root/run/asked"
    apt remove millrace && [ ! -e "$root/proc/$before" ] && [ ! -e "$root/usr/bin/millrace" ] &&
        cmp "$work/mine" "$root/etc/millrace/millrace.yaml" && [ -e "$root/var/lib/millrace/millrace.db" ] &&
        cat "$root/run/asked" && grep 'stop.*millrace-check.timer' "$root/run/asked" &&
        grep 'stop.*millrace-replay.service' "$root/run/asked"
}

goes_on_where_it_was() {
    apt install /tmp/packages/first.deb && has_its_token
}

purges() {
    local before
    before=$(pid)
    echo secret > "$root/etc/millrace/shop.password"
    apt purge millrace && [ ! -e "$root/proc/$before" ] && files | diff "$work/before" - && in_root id millrace
}

# ---- in the order in which they happen

if [ "${1-}" = inside ]; then
    n=$2
    step "package: a root of its own" a_root
    step "package: apt installs it, and its files belong to whom they should" installs
    step "package: the daemon runs as its user and answers" runs_as_its_user
    step "package: its units are without fault, and only the daemon's is enabled" has_its_units
    step "package: completion, manual, schemas, alarms and dashboard are there" has_what_else_is_promised
    step "package: an upgrade keeps configuration and data, and starts the daemon again" upgrades
    step "package: a fault in the configuration fails the service, not the upgrade" bears_a_fault
    step "package: without a configuration nothing starts" leaves_out_what_is_not_configured
    step "package: what is removed stops, and leaves configuration and data" removes
    step "package: installed again, it goes on from there" goes_on_where_it_was
    step "package: nothing but its user is left after a purge" purges
    finish
fi

clean() {
    as_root rm -rf "$work"
    rm -f "$log"
} > /dev/null 2>&1
trap clean EXIT
[ -e "$plain/Makefile" ] || die "nothing is built in build-tests/plain; fix: ./runtests --only package"
need_packages package
namespaces=(unshare --net --pid --mount --fork --kill-child)
if ! as_root "${namespaces[@]}" true 2> "$log"; then
    echo "ok 1 - package # SKIP this machine lets root have no namespaces: $(head -n 1 "$log")"
    echo 1..1
    exit
fi
step "package: the release becomes a package" builds
step "package: lintian finds no fault" is_without_fault
step "package: there is a newer one" a_newer_one
step "package: a base for its root" make_base
as_root "${namespaces[@]}" bash "$here/debian.sh" inside "$n"
