#!/bin/sh
# debian_systemctl.sh: stands for systemctl in a root in which no systemd runs, so that maintainer
# scripts start and end the daemon: as its unit says, but for what only a running systemd can do.  What
# needs none is left to the real one, systemctl.real.  Notes in /run/asked what it was asked.
unit=/lib/systemd/system/millrace.service
pid_file=/run/millrace.pid
PATH=/usr/sbin:/usr/bin
echo "$*" >> /run/asked

said() { sed -n "s/^$1=//p" "$unit"; }
runs() { # a zombie does not
    [ -s "$pid_file" ] && grep -q '^State:[^Z]*$' "/proc/$(cat "$pid_file")/status" 2> /dev/null
}
start() {
    ! runs && [ -e "$(said ConditionPathExists)" ] || return 0
    (
        umask "$(said UMask)"
        # shellcheck disable=SC2046 # words
        exec env -i PATH="$PATH" setpriv --reuid="$(said User)" --regid="$(said Group)" --init-groups \
            --inh-caps=-all --bounding-set=-all --no-new-privs $(said ExecStart)
    ) > /run/millrace.log 2>&1 < /dev/null &
    echo $! > "$pid_file"
    tries=600
    until millrace status > /dev/null 2>&1; do
        [ $((tries = tries - 1)) -gt 0 ] && runs || return 1
        sleep 0.1
    done
}
stop() {
    tries=600
    ! runs || kill "$(cat "$pid_file")"
    while runs; do
        [ $((tries = tries - 1)) -gt 0 ] || return 1
        sleep 0.1
    done
    rm -f "$pid_file"
}

verb= names=
for word; do
    case $word in
        -*) ;;
        *) if [ -z "$verb" ]; then verb=$word; else names="$names $word"; fi ;;
    esac
done
case $verb in
    preset | enable | disable | is-enabled) exec systemctl.real --root=/ "$@" ;;
esac
for name in $names; do
    case $verb:$name in
        start:millrace.service) start || exit 1 ;;
        stop:millrace.service) stop || exit 1 ;;
        restart:millrace.service) { stop && start; } || exit 1 ;;
        is-active:millrace.service) runs || exit 3 ;;
        is-active:*) exit 3 ;;
    esac
done
exit 0
