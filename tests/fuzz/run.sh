#!/usr/bin/env bash
# Every fuzz target for some seconds, each on its corpus and on what earlier runs found; TAP.
#
#   tests/fuzz/run.sh BUILD SECONDS [NAME...]
#
# Each has a processor to itself for its seconds: as many run at a time as there are.
# BUILD is a folder configured with CC=clang --enable-fuzzers and sanitizers.  Inputs that found
# something new stay in BUILD/inputs/NAME, inputs that broke a target are BUILD/inputs/NAME-crash-...
# With CFLAGS='... -fprofile-instr-generate -fcoverage-mapping', last come, as comments, the share of
# lines that any target reached in each file of a parser.
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

# fuzz NUMBER NAME: its TAP lines.
fuzz() {
    local n=$1 name=$2 found=$build/inputs/$2
    mkdir -p "$found"
    if LLVM_PROFILE_FILE=$found.profraw "./fuzz_$name" -max_total_time="$seconds" -max_len=8192 \
        -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=1500 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$found-" "$found" "$repo/tests/fuzz/corpus/$name" > "$found.log" 2>&1; then
        echo "ok $n - $name: $(awk '/number_of_executed_units/ { print $2 }' "$found.log") inputs in $seconds s"
    else
        echo "not ok $n - $name ($found.log)"
        tail -n 30 "$found.log" | sed 's/^/# /'
    fi
}

echo "1..$#"
trap 'kill $(jobs -p) 2> /dev/null' EXIT
n=0 status=0
mkdir -p "$build/inputs"
for name; do
    [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
    n=$((n + 1))
    fuzz "$n" "$name" > "$build/inputs/$name.tap" &
done
wait
objects=() profiles=()
for name; do
    cat "$build/inputs/$name.tap"
    grep -q '^ok ' "$build/inputs/$name.tap" || status=1
    [ ! -e "$build/inputs/$name.profraw" ] || profiles+=("$build/inputs/$name.profraw")
    objects+=(-object "./fuzz_$name")
done

if [ -n "$cov" ] && [ -n "$profdata" ] && [ ${#profiles[@]} -gt 0 ]; then
    "$profdata" merge -sparse -o "$build/inputs/all.profdata" "${profiles[@]}" &&
        "$cov" report "${objects[@]:1}" -instr-profile="$build/inputs/all.profdata" \
            --show-region-summary=false --show-branch-summary=false \
            "$repo/sync/position" "$repo/sync/value" "$repo/sync/decode" "$repo/sync/definition" "$repo/src/format" \
            "$repo/src/config" "$repo/sync/delivery/bulk" "$repo/rebalance/trees" "$repo/rebalance/cluster/node_data.c" "$repo/web/head.c" 2> /dev/null |
        sed 's/^/# /'
fi
exit $status
