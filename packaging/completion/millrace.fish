# Completion for fish; millrace.bash says what "millrace complete" prints.
function __millrace_complete
    set -l words (commandline -opc)
    for line in ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
        if test "$line" = /
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c millrace -f -a '(__millrace_complete)'
