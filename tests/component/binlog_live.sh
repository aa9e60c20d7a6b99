#!/bin/sh
# binlog inspect and decode of a topic's server, without a daemon.  Run by with_mariadb.sh.
set -eu
program=$(cd "${top_builddir:-.}" && pwd)/millrace
cd "$MYSQL_TEST_DIR"
n=0
check() { # NAME PATTERN: a line of the file "out" matches
    n=$((n + 1))
    if grep -q "$2" out; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' out
    fi
}

echo "1..6"
mariadb --no-defaults --socket="$MYSQL_TEST_SOCKET" --user=root -e "
    CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT);
    INSERT INTO d.t VALUES (1, 'a'), (2, NULL); FLUSH BINARY LOGS;
    UPDATE d.t SET v = 'c'; DELETE FROM d.t WHERE id = 2;
    CREATE USER reader@'%' IDENTIFIED BY 'word'; GRANT ALL ON *.* TO reader@'%'"
echo word >password
chmod 600 password
echo "topics: [{name: live, address: '127.0.0.1:$MYSQL_TEST_PORT', user: reader, password_file: $PWD/password}]" >topic.yaml
echo "{data: $PWD/millrace, search: {url: ['http://127.0.0.1:1']}}" >millrace.yaml
"$program" apply --yes topic.yaml >out 2>&1 || sed 's/^/# /' out

"$program" binlog inspect --topic live >out 2>&1 || echo "exit $?" >>out
check "the first file is told" "^binlog.000001 .* goes on in binlog.000002"
check "with the rows of its table" "^d  *t  *2  *0  *0 "
check "and what it holds of GTIDs" "GTIDs  *0-1-1 to 0-1-3"
check "the second one, too" "^d  *t  *0  *2  *1 "
"$program" binlog decode --topic live --format none --count >out 2>&1 || echo "exit $?" >>out
check "changes are counted over all files" "^ins=2 upd=2 del=1 cells=14 nulls=2 idsum=11$"
"$program" binlog decode --topic live --gtid 0-1-5 >out 2>&1 || echo "exit $?" >>out
check "one transaction is chosen" '"gtid":"0-1-5".*"op":"delete","before":{"id":2,"v":"c"}'
