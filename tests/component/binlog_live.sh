#!/bin/sh
# binlog inspect and decode of a topic's server and of its files, without a daemon.  Run by
# with_mariadb.sh.
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

echo "1..23"
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
"$program" binlog decode --topic live --from binlog.000002:4 --format none --count >out 2>&1 || echo "exit $?" >>out
check "a dump starts where it is asked to" "^ins=0 upd=2 del=1 "
"$program" binlog decode --topic live --from 4 >out 2>&1 || echo "exit $?" >>out
check "an offset alone is in no file of a server" "^millrace: --from: '4' is not a position (FILE:OFFSET)"

# The same from the files, both of them closed.
mariadb --no-defaults --socket="$MYSQL_TEST_SOCKET" --user=root -e "FLUSH BINARY LOGS"
one=$MYSQL_TEST_DATA/binlog.000001 two=$MYSQL_TEST_DATA/binlog.000002
decode() { # all that the command says and, if it fails, how
    "$program" binlog decode "$@" >out 2>&1 || echo "exit $?" >>out
}
decode "$one" "$two" --format none --count
check "files in a row are counted together" "^ins=2 upd=2 del=1 cells=14 nulls=2 idsum=11$"
decode - --format none --count <"$two"
check "standard input is a file" "^ins=0 upd=2 del=1 cells=10 nulls=1 idsum=8$"
cat "$two" | "$program" binlog decode - >out
check "a pipe is one too, and has a name" '^{"file":"stdin",.*"op":"update"'
decode "$one" "$two" --table 'd.?' --table 'e.*' --format none --count
check "tables are chosen by patterns" "^ins=2 upd=2 del=1 "
decode "$one" "$two" --table 'd.tt' --table '*.u' --format none --count
check "other tables are left out" "^ins=0 upd=0 del=0 "
decode "$one" --table t
check "a table without a database is refused" "DATABASE.TABLE"
pos=$("$program" binlog decode "$two" | sed -n '$s/.*"pos":\([0-9]*\),.*/\1/p')
decode "$one" "$two" --from "$two:$pos" --format none --count
check "a position may be a path" "^ins=0 upd=0 del=1 "
decode "$one" "$two" --to "$pos" --format none --count
check "an offset alone is the last file's" "^ins=2 upd=2 del=0 "
decode "$two" --from "$pos" --format none --count
check "or the first file's" "^ins=0 upd=0 del=1 "
decode "$one" "$two" --to-time 2020-01-01 --format none --count
check "what is later is left out" "^ins=0 upd=0 del=0 "
decode "$one" "$two" --from-time '2020-01-01 00:00' --format none --count
check "what is earlier is left out" "^ins=2 upd=2 del=1 "

head -c "$((pos + 30))" "$two" >cut.000002
decode cut.000002
check "a cut file gives the rows before the cut" '"op":"update","before":{"id":2,"v":null},"after":{"id":2,"v":"c"}}$'
check "then where the damage is and why" "^millrace: cut.000002:$pos: the file ends inside an event"
check "and exit code 1" "^exit 1$"
{ "$program" binlog decode --events "$one" "$one" "$one" "$two" 2>&1 >&3 | sed 's/^/said: /' >said; } 3>&1 |
    head -n 1 >out
cat said >>out
if [ "$(wc -l <out)" = 1 ]; then echo quiet >out; fi
check "a reader that has enough is no error" "^quiet$"
