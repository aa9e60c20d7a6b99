#!/bin/sh
# In bash, each word of each command is offered after the words before it, and names of tables are
# offered as they are, whatever is in them.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0"
set -u
program=${top_builddir:-.}/millrace
bad=0
count=0

source <("$program" completion bash)

# The commands as --help lists them: indented by two, up to the first argument or gap.
mapfile -t commands < <("$program" --help |
    sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)*\)\( [A-Z[].*\|  .*\)$/\1/p')
for command in "${commands[@]}"; do
    read -ra words <<<"$command"
    for ((n = 0; n < ${#words[@]}; n++)); do
        COMP_WORDS=("$program" "${words[@]:0:n}" "")
        COMP_CWORD=$((n + 1))
        _millrace
        [[ " ${COMPREPLY[*]} " == *" ${words[n]} "* ]] ||
            { echo "after \"${words[*]:0:n}\" not offered: ${words[n]}"; bad=1; }
        count=$((count + 1))
    done
done
[ "$count" -ge 50 ] || { echo "only $count words found"; bad=1; }

names=('shop.$(exit 9)' 'shop.`id`' 'shop.a;b' 'shop.two words' "shop.it's" 'shop.$HOME')
named() { printf '%s\n' "${names[@]}" other.table; }
COMP_WORDS=(named explain shop.)
COMP_CWORD=2
_millrace
eval "offered=(${COMPREPLY[*]})"
[ "${offered[*]@Q}" = "${names[*]@Q}" ] || { echo "offered: ${COMPREPLY[*]@Q}"; bad=1; }

# Indexes and versions are offered by their names, and --set has every setting.
offers() {
    local wanted=$1
    shift
    COMP_WORDS=(named "$@")
    COMP_CWORD=$#
    _millrace
    [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || { echo "$*: offered ${COMPREPLY[*]}"; bad=1; }
}
named() { [ "$1" = complete ] && printf '%s\n' "a_$2"; }
offers a_index version list ""
offers a_index index list a_
offers a_version dead-letter list --index ""
offers a_table index create ""
offers delivery.workers= status --set delivery.w
offers log.format= status --set log.
exit $bad
