#compdef millrace
# Completion for zsh; millrace.bash says what "millrace complete" prints.
_millrace()
{
    local line
    local -a names shown suffix
    for line in "${(@f)$("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ $line == / ]] && { _files; return }
        [[ -n $line ]] || continue
        names+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
        [[ $names[-1] == *= ]] && suffix=(-S '')
    done
    compadd -l -d shown "${suffix[@]}" -a names
}
# zsh loads this file at the first completion; "source" only says what it is for.
if [[ $funcstack[1] == _millrace ]]; then _millrace "$@"; else compdef _millrace millrace; fi
