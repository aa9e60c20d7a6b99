#!/bin/sh
# The structs of src/base/magic.def keep the rule of src/base/magic.h: each has its magic as its
# first member, is set, cast and ended, and no void * becomes one of them unchecked.
set -eu
cd "${top_srcdir:-.}"
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

find src sync rebalance web -name '*.[ch]' | sort > "$work/sources"
sed -n 's/^MAGIC(\(.*\))$/\1/p' src/base/magic.def > "$work/listed"

xargs awk '
    /^struct [a-z_]+ \{$/ { name = $2; at = FNR }
    /^    enum magic magic;/ && at == FNR - 1 { print name }' < "$work/sources" | sort > "$work/owners"
diff "$work/listed" "$work/owners" || {
    echo "left: MAGIC() in src/base/magic.def; right: structs whose first member is \"enum magic magic\""
    bad=1
}

for verb in '= MAGIC_' 'MAGIC_CAST(' 'MAGIC_END('; do
    xargs grep -oh "$verb[a-z_]*" < "$work/sources" | sed "s/^$verb//" | sort -u > "$work/used"
    for name in $(comm -23 "$work/owners" "$work/used"); do
        echo "src/base/magic.def: \"$verb$name\" stands nowhere"
        bad=1
    done
done

any=$(paste -sd '|' "$work/listed")
if xargs grep -nE "struct ($any) \*[a-z_]+ = [*]?(arg|ctx|cls|con_cls|item);" < "$work/sources"; then
    echo "use MAGIC_CAST()"
    bad=1
fi
exit "$bad"
