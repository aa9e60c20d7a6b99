#!/bin/sh
# The systemd units start the program where `make install` puts it, systemd finds no fault in them,
# and what each could do to the machine stays below a limit.
set -eu
units=${top_builddir:-.}/packaging/systemd
timers=${top_srcdir:-.}/packaging/systemd
bad=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A job that is not the only one has done nothing wrong.
for job in delayed replay; do
    grep -q '^SuccessExitStatus=75$' "$units/millrace-$job.service" || { echo "a busy millrace-$job fails"; bad=1; }
done
for unit in millrace:run millrace-check:check millrace-delayed:delayed millrace-replay:replay; do
    built=$units/${unit%:*}.service
    grep -q "^ExecStart=$bindir/millrace ${unit#*:} " "$built" || {
        echo "${unit%:*}.service does not start $bindir/millrace: $(grep '^ExecStart=' "$built")"
        bad=1
    }
    ! grep -n '@[a-z]*@' "$built" || { echo "configure's name stands in ${unit%:*}.service"; bad=1; }
done

command -v systemd-analyze > /dev/null || exit $((bad ? bad : 77))
# systemd looks for the program, which is not installed yet.
program=$(cd "${top_builddir:-.}" && pwd)/millrace
for name in millrace millrace-check millrace-delayed millrace-replay; do
    sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$units/$name.service" > "$folder/$name.service"
done
cp "$timers"/*.timer "$folder"
systemd-analyze verify --man=no "$folder"/*.service "$folder"/*.timer > "$folder/said" 2>&1 ||
    { echo "systemd refuses a unit"; bad=1; }
! grep millrace "$folder/said" || bad=1 # what is said of other units does not concern us
# systemd counts in tenths: 0 can do nothing, 100 everything.
for name in millrace millrace-check millrace-delayed millrace-replay; do
    systemd-analyze security --no-pager --offline=yes --threshold=20 "$folder/$name.service" > "$folder/score" 2>&1 ||
        { cat "$folder/score"; bad=1; }
done
exit $bad
