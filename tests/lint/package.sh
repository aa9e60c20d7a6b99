#!/bin/sh
# The Debian package is of this version, builds with what tools/packages lists, installs a configuration
# that the program takes, also with what stands there as an example, and knows every timer.
# tests/integration/debian.sh builds and installs it.
set -eu
source=${top_srcdir:-.}
program=${top_builddir:-.}/millrace
debian=$source/packaging/debian
bad=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version=$(sed -n 's/^AC_INIT(\[millrace\], \[\([^]]*\)\].*/\1/p' "$source/configure.ac" | sed 's/-/~/g')
noted=$(sed -n '1s/^millrace (\(.*\)-[^-]*).*/\1/p' "$debian/changelog")
[ "$version" = "$noted" ] || { echo "packaging/debian/changelog begins with $noted, and configure.ac has $version"; bad=1; }

# debhelper brings autoconf and automake, every machine that builds packages has the compiler, and a
# release has the page made.
sed -n 's/^build: //p' "$source/tools/packages" | tr ' ' '\n' |
    grep -vxE 'gcc|libc6-dev|make|autoconf|automake|nodejs|npm|ca-certificates' | sort > "$folder/listed"
sed -n '/^Build-Depends:/,/^[^ ]*:/s/^ \([a-z0-9+.-]*\).*,$/\1/p' "$debian/control" |
    grep -vxE 'debhelper-compat|dh-sequence-.*' | sort > "$folder/named"
diff "$folder/listed" "$folder/named" ||
    { echo "tools/packages (<) and Build-Depends of packaging/debian/control (>) differ"; bad=1; }

cp "$debian/millrace.yaml" "$folder/installed.yaml"
sed -E 's/^#(  [a-z_]+: |[a-z_]+:$)/\1/' "$debian/millrace.yaml" > "$folder/example.yaml"
! cmp -s "$folder/installed.yaml" "$folder/example.yaml" || { echo "millrace.yaml has no examples"; bad=1; }
touch "$folder/search.password"
chmod 600 "$folder"/*
for name in installed example; do
    env -i "$program" config show --config "$folder/$name.yaml" > "$folder/shown" 2>&1 ||
        { echo "the program refuses packaging/debian/millrace.yaml ($name):"; cat "$folder/shown"; bad=1; }
done
env -i "$program" config show --origin --config "$folder/installed.yaml" | grep -q '^data: "/var/lib/millrace" ' ||
    { echo "packaging/debian/millrace.yaml has another folder of data than the package"; bad=1; }

for script in "$debian"/millrace.*inst "$debian"/millrace.*rm; do
    sh -n "$script" || bad=1
    grep -qx '#DEBHELPER#' "$script" || { echo "$script has no #DEBHELPER#"; bad=1; }
done
for timer in "$source"/packaging/systemd/*.timer; do
    name=$(basename "$timer")
    for file in rules millrace.prerm millrace.README.Debian; do
        grep -q "$name" "$debian/$file" || { echo "packaging/debian/$file does not know $name"; bad=1; }
    done
done
exit $bad
