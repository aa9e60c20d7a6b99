#!/bin/sh
# Fail if an integration test sleeps: it waits for a condition (wait_until), sees that one holds (stays), or says why time
# passes (let_pass), all of them in servers.py.
set -eu
cd "${top_srcdir:-.}"
[ -f tests/integration/servers.py ] || exit 0 # a release does not have them

find tests/integration -name '*.py' | sort | xargs awk '
    FNR == 1 { helper = 0 }
    /^[^ \t#]/ {
        helper = FILENAME == "tests/integration/servers.py" &&
                 /^def (wait_until|stays|let_pass)\(/
    }
    /(^|[^a-z_])time\.sleep|from time import.*sleep/ && !helper {
        print FILENAME ":" FNR ": time.sleep: use wait_until(), stays() or let_pass() of servers.py"
        bad = 1
    }
    END { exit bad }
'
