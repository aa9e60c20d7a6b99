# fetch_from_pypi NAME LIST WHAT: keeps under tools/cache/NAME what the file LIST beside this one names, by its
# hashes.  Sourced after tools/lib.sh by scripts that set $here, $repo and $python; one at a time fetches.

fetch_from_pypi() {
    mkdir -p "$repo/tools/cache"
    (flock 9 && fetch_alone "$@") 9> "$repo/tools/cache/$1.lock" || exit 1
}

fetch_alone() {
    local cache=$repo/tools/cache/$1 list=$here/$2
    cmp -s "$list" "$cache/requirements" && return 0
    need_packages openapi
    rm -rf "$cache" "$cache.part"
    say "fetching $3 from PyPI"
    "$python" -m pip install --quiet --no-deps --require-hashes --only-binary :all: --ignore-installed \
        --target "$cache.part" --requirement "$list" > "$cache.log" 2>&1 < /dev/null || {
        tail -n 5 "$cache.log" >&2
        die "pip could not fetch $3 (log: tools/cache/$1.log)"
    }
    cp "$list" "$cache.part/requirements" && mv "$cache.part" "$cache"
}
