#!/usr/bin/env bash
# quickstart.sh: ./quickstart --nodes 3 in a clean checkout: starts a cluster, whose last node takes over
# from those that are killed, and removes all that it made.  Output is TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
# shellcheck source=tools/lib.sh
. "$repo/tools/lib.sh"
# shellcheck source=tests/integration/steps.sh
. "$here/steps.sh"
work=$repo/tests/run/quickstart
shop=$work/millrace

files() { (cd "$shop" && find . -type f | sort); }

starts() {
    rm -rf "$work" && mkdir -p "$work" && sources | tar x -C "$work" && files > "$work/before" &&
        "$shop/quickstart" --nodes 3
}

# comes QUERY: the search finds something within a minute.
comes() {
    local i url
    url=http://127.0.0.1:$(cat "$shop/.quickstart/ports/opensearch")
    for ((i = 0; i < 300; i++)); do
        curl -sf "$url/$1&size=0" | grep '"value":[1-9]' && return 0
        sleep 0.2
    done
    return 1
}

takes_over() {
    local i
    for i in 2 3; do kill -9 "$(cat "$shop/.quickstart/node-$i/millrace.pid")" || return 1; done
    mariadb --defaults-file="$shop/.quickstart/mariadb/root.cnf" -e "
        UPDATE shop.customer SET city = 'Atlantis' WHERE id = 1;
        UPDATE branch_2.stock SET stock = 4711 WHERE id = 1;
        UPDATE branch_3.stock SET stock = 4711 WHERE id = 1" &&
        comes "orders/_search?q=customer.city:Atlantis" && comes "stock_2/_search?q=stock:4711" &&
        comes "stock_3/_search?q=stock:4711"
}

goes_on() {
    "$shop/quickstart" && "$shop/quickstart" status | grep '^millrace-3 *running'
}

refuses_another_number() { ! "$shop/quickstart" --nodes 2; }

leaves_nothing() {
    "$shop/quickstart" clean && files | diff "$work/before" -
}

clean() {
    [ ! -x "$shop/quickstart" ] || "$shop/quickstart" clean
    rm -rf "$work"
    rm -f "$log"
} > /dev/null 2>&1
trap clean EXIT
step "quickstart: a clean checkout becomes a cluster of three nodes" starts
step "quickstart: the last node takes over from two that are killed" takes_over
step "quickstart: it goes on with all nodes" goes_on
step "quickstart: another number of nodes is refused" refuses_another_number
step "quickstart: nothing is left after clean" leaves_nothing
finish
