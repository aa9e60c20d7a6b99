#include "config.h"

#include "rebalance/check/replica.h"

#include "rebalance/state/parts.h"

#include "rebalance/watch/asking.h"
#include "src/mysql/mysql.h"
#include "sync/server/server_access.h"
#include "sync/server/server_info.h"

static void report(struct problems *problems, const struct database_definition *db,
                   const char *what, const char *fix)
{
    problems_add(problems, SEVERITY_ERROR, db->place, "database %" STR_FMT ": %s",
                 STR_ARG(db->name), what);
    problems_fix(problems, "%s", fix);
}

/* Returns false if the replica cannot be asked; the problem is then reported. */
static bool look(struct asking *asking, const struct server_access *server,
                 const struct database_definition *db, struct server_info *info,
                 struct problems *problems)
{
    struct mysql_conn *conn = NULL;
    struct err err = {0};
    const bool ok = asking_open(asking, &server->options, &conn, &err) &&
                    server_info_load(conn, info, &err);

    asking_close(asking, conn);
    if (!ok)
        report(problems, db, err.msg,
               "correct address, user and password_file of the database, or the account on "
               "that server");
    return ok;
}

/* Only GTIDs tell how far a replica is (docs/rules.md, rule 4). */
static void judge(const struct database_definition *db, const struct server_info *topic,
                  const struct server_info *own, struct problems *problems)
{
    if (topic->mariadb != own->mariadb)
        report(problems, db,
               "of its address and its topic's one is MySQL and the other MariaDB, which do "
               "not know each other's GTIDs",
               "give the address of a replica of the topic's server, or none");
    else if (!topic->gtid || !own->gtid)
        report(problems, db,
               "an address of its own needs GTIDs on that server and on its topic's: only "
               "they show whether a replica has applied what was read from the log",
               "gtid_mode=ON on both servers, or remove the address");
}

void coordinator_check_replica(struct coordinator *co, const struct topic_definition *topic,
                               const struct database_definition *db, struct problems *problems)
{
    struct server_access *own = NULL, *followed = NULL;
    struct server_info own_info, info;
    struct err err = {0};

    if (!server_access_new(&own, topic, db, co->opt.data_dir, &err) ||
        !server_access_new(&followed, topic, NULL, co->opt.data_dir, &err))
        report(problems, db, err.msg, "correct the database's own server");
    else if (own->replica && look(co->asking, own, db, &own_info, problems) &&
             look(co->asking, followed, db, &info, problems))
        judge(db, &info, &own_info, problems);
    server_access_unref(own);
    server_access_unref(followed);
}
