# Completion for bash.  "millrace complete -- WORD..." prints what the last of the words can be, one a
# line, with its meaning after a tab; a line "/" stands for a file.

# Names are anybody's: they are quoted, and never evaluated (as compgen -W does).
_millrace()
{
    local word line quoted last="" words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ -n $last && ( $word == = || $last == *= ) ]]; then words[-1]+=$word # bash divides a=b
        else words+=("$word"); fi
        last=${words[-1]}
    done
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == / ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$2")
            return
        fi
        line=${line%%$'\t'*}
        printf -v quoted %q "$line"
        [[ $line == "$last"* || $quoted == "$last"* ]] && COMPREPLY+=("${quoted#"${last%"$2"}"}")
        [[ $line == *= ]] && compopt -o nospace
    done < <("$1" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _millrace millrace
