#!/usr/bin/env bash
# Every fuzz target for some seconds, each on its corpus and on what earlier runs found; TAP.
#
#   tests/fuzz/run.sh BUILD SECONDS [NAME...]
#
# BUILD is a folder configured with CC=clang --enable-fuzzers, sanitizers, and
# CFLAGS='... -fprofile-instr-generate -fcoverage-mapping'.  Inputs that found something new stay in
# BUILD/inputs/NAME, inputs that broke a target are BUILD/inputs/NAME-crash-...  Last come, as
# comments, the share of lines that any target reached in each file of a parser.
set -u
repo=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 1
seconds=$2
shift 2
cd "$build/tests/fuzz" || exit 1
tool() { # the newest there is of one of LLVM's
    compgen -c "$1" | grep -E "^$1(-[0-9]+)?$" | sort -V | tail -n 1
}
cov=$(tool llvm-cov) profdata=$(tool llvm-profdata)
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
if [ $# = 0 ]; then
    for source in "$repo"/tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        set -- "$@" "${name%.c}"
    done
fi

echo "1..$#"
n=0 status=0 objects=() profiles=()
for name; do
    n=$((n + 1))
    found=$build/inputs/$name
    mkdir -p "$found"
    if LLVM_PROFILE_FILE=$found.profraw "./fuzz_$name" -max_total_time="$seconds" -max_len=8192 \
        -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=1500 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$found-" "$found" "$repo/tests/fuzz/corpus/$name" > "$found.log" 2>&1; then
        runs=$(awk '/number_of_executed_units/ { print $2 }' "$found.log")
        echo "ok $n - $name: $runs inputs in $seconds s"
    else
        echo "not ok $n - $name ($found.log)"
        tail -n 30 "$found.log" | sed 's/^/# /'
        status=1
    fi
    [ ! -e "$found.profraw" ] || profiles+=("$found.profraw")
    objects+=(-object "./fuzz_$name")
done

if [ -n "$cov" ] && [ -n "$profdata" ] && [ ${#profiles[@]} -gt 0 ]; then
    "$profdata" merge -sparse -o "$build/inputs/all.profdata" "${profiles[@]}" &&
        "$cov" report "${objects[@]:1}" -instr-profile="$build/inputs/all.profdata" \
            --show-region-summary=false --show-branch-summary=false \
            "$repo/sync/binlog" "$repo/src/json.c" "$repo/src/yaml_read.c" "$repo/sync/model" \
            "$repo/sync/delivery/bulk_response.c" "$repo/src/configuration_file.c" 2> /dev/null |
        sed 's/^/# /'
fi
exit $status
