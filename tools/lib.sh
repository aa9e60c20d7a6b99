# shellcheck shell=bash disable=SC2154
# What the scripts of this repository share; sourced by bash.  Changes nothing by itself.

# Progress goes to standard error, with the seconds since the script began.
started_at=${EPOCHREALTIME/./}
say() {
    local ms=$(((${EPOCHREALTIME/./} - started_at) / 1000))
    printf '[%4d.%d s] %s\n' $((ms / 1000)) $((ms % 1000 / 100)) "$*" >&2
}
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# alive PIDFILE WORD: the process named in the file runs, and its command line has the word
# (a pid that another program got since is not ours).
alive() {
    local pid
    [ -s "$1" ] && read -r pid < "$1" && [ -r "/proc/$pid/cmdline" ] &&
        tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -qF -- "$2"
}

# stop_process PIDFILE WORD SECONDS: SIGTERM, wait, then SIGKILL; done when it is gone.
stop_process() {
    local pid tries=$(($3 * 10))
    if alive "$1" "$2"; then
        read -r pid < "$1"
        kill "$pid" 2> /dev/null
        while alive "$1" "$2"; do
            if [ $((tries--)) -le 0 ]; then
                kill -9 "$pid" 2> /dev/null
                tries=50
            fi
            sleep 0.1
        done
    fi
    rm -f "$1"
}

port_taken() {
    (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

# port_stays_taken PORT: also after a while, as a program that was just killed holds its port for a moment.
port_stays_taken() {
    local tries=50
    while port_taken "$1"; do
        [ $((tries--)) -gt 0 ] || return 0
        sleep 0.1
    done
    return 1
}

# as_root COMMAND...: as it is for root, by sudo for others.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo > /dev/null; then
        sudo "$@"
    else
        die "not root and no sudo: run as root: $*"
    fi
}

# packages_of GROUP: those that tools/packages lists, one a line.
packages_of() {
    awk -v g="$1:" '$1 == g { for (i = 2; i <= NF; i++) print $i }' "$repo/tools/packages"
}

# provided: what installed packages provide under other names, one a line, as some nodejs does npm.
provided() {
    dpkg-query -W -f='${db:Status-Status}, ${Provides}\n' 2> /dev/null |
        sed -n 's/^installed, //p' | tr ',' '\n' | sed 's/^ *//; s/ .*//; /^$/d' | sort -u
}

# need_packages GROUP...: installs what is missing of the groups listed in tools/packages.
need_packages() {
    local group missing=() name others
    others=$(provided)
    for group; do
        while read -r name; do
            [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2> /dev/null)" = installed ] ||
                grep -qxF -- "$name" <<< "$others" || missing+=("$name")
        done < <(packages_of "$group")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get > /dev/null ||
        die "this is no Debian: install yourself what corresponds to: ${missing[*]}"
    say "installing ${#missing[@]} packages: ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { as_root apt-get update -q &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
            --no-install-recommends "${missing[@]}"; } > "$log" 2>&1 < /dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: ${missing[*]}"
    fi
    rm -f "$log"
}

# need_promtool FOLDER: puts promtool into the folder, unless the machine has it.  Installs nothing, so
# that no Prometheus starts.
need_promtool() {
    local log
    ! command -v promtool > /dev/null && [ ! -x "$1/promtool" ] || return 0
    command -v apt-get > /dev/null || die "this is no Debian: install yourself what has promtool"
    say "unpacking promtool"
    log=$(mktemp)
    # shellcheck disable=SC2046 # words
    if ! (mkdir -p "$1" && as_root apt-get update -q && cd "$1" &&
        apt-get download -q $(packages_of promtool) &&
        dpkg-deb --fsys-tarfile ./*.deb | tar -xf - --strip-components=3 ./usr/bin/promtool &&
        rm ./*.deb && ./promtool --version) > "$log" 2>&1 < /dev/null; then
        tail -n 20 "$log" >&2
        rm -rf "$log" "$1"
        die "promtool could not be unpacked into $1"
    fi
    rm -f "$log"
}
