# shellcheck shell=bash disable=SC2154
# Steps of a test in bash, as TAP; sourced.  Needs tools/lib.sh.
n=0 failed=0
log=$(mktemp "${TMPDIR:-/tmp}/millrace-steps.XXXXXX")
trap 'rm -f "$log"' EXIT

result() { # ok|not NAME LOG
    n=$((n + 1))
    if [ "$1" = ok ]; then
        echo "ok $n - $2"
    else
        failed=$((failed + 1))
        echo "not ok $n - $2"
        tail -n 30 "$3" | sed 's/^/# /'
    fi
}

finish() {
    echo "1..$n"
    [ "$failed" = 0 ]
    exit
}

# Nothing that follows a failed step would make sense.
step() { # NAME FUNCTION
    if "$2" > "$log" 2>&1 < /dev/null; then
        result ok "$1"
    else
        result not "$1" "$log"
        finish
    fi
}

# The files of the checkout as they are now, without what was built, as a tar.
sources() {
    (cd "$repo" && git ls-files -z --cached --others --exclude-standard |
        tar c --null --ignore-failed-read --transform 's,^,millrace/,' -T -)
}
