#!/bin/sh
# The systemd unit starts the program where `make install` puts it, systemd finds no fault in it,
# and what the daemon could do to the machine stays below a limit.
set -eu
built=${top_builddir:-.}/packaging/systemd/millrace.service
bad=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

grep -q "^ExecStart=$bindir/millrace run " "$built" || {
    echo "the unit does not start $bindir/millrace: $(grep '^ExecStart=' "$built")"
    bad=1
}
! grep -n '@[a-z]*@' "$built" || { echo "configure's name stands in the unit"; bad=1; }

command -v systemd-analyze > /dev/null || exit $((bad ? bad : 77))
# systemd looks for the program, which is not installed yet.
program=$(cd "${top_builddir:-.}" && pwd)/millrace
sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$built" > "$folder/millrace.service"
systemd-analyze verify --man=no "$folder/millrace.service" > "$folder/said" 2>&1 || { echo "systemd refuses the unit"; bad=1; }
! grep millrace "$folder/said" || bad=1 # what is said of other units does not concern us
# systemd counts in tenths: 0 can do nothing, 100 everything.
systemd-analyze security --no-pager --offline=yes --threshold=20 "$folder/millrace.service" > "$folder/score" 2>&1 ||
    { cat "$folder/score"; bad=1; }
exit $bad
