#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

static const struct command_option table_delete_options[] = {
    {"with-indexes", 0, NULL, "also delete its indexes", NULL},
    {"confirm", 0, "TABLE", "with --with-indexes: even if searches use them; name it again",
     "table"},
    TRY,
    YES,
    END,
};

static const struct command_option move_options[] = {
    {"to", 0, "NODE", "the node, by its name or id; any: wherever it fits", "node"},
    MOVE_OPTIONS,
    END,
};

static const struct command_option change_options[] = {TRY, WHY, END};

static const struct command_option table_options[] = {
    TRY,
    WHY,
    {"take-alias", 0, NULL,
     "let a table take an alias that points to an index that Millrace did not make", NULL},
    END,
};

static const struct command_option look_options[] = {
    {"relation", 0, "RELATION", "of this relation, as items or items.product", NULL},
    END,
};

static const struct command_option column_options[] = {
    {"relation", 0, "RELATION", "of this relation, as items or items.product", NULL},
    TRY,
    END,
};

#define ASSIGNMENTS                                                                         \
    "FIELD=VALUE sets a field as in a definition file; tls.verify=false sets one inside.  " \
    "FIELD= removes it, so that its default counts.  A value that begins with [ { \" or ' " \
    "is YAML, any other is the text as it is, a number, true, false or null.  "
#define CHECKED                                                                         \
    "The checks, the warnings and the effect are those of apply.  If somebody changes " \
    "the definitions meanwhile, nothing is stored, and the message says who."

#define ADD(noun_, options_, example_)                                              \
    {                                                                               \
        noun_ " add", "NAME [FIELD=VALUE...]", "define a " noun_,                   \
            ASSIGNMENTS "Refused if it is defined already.  " CHECKED, NEED_STORE,  \
            command_definition_add, noun_, 1, 1000, options_, NULL, false, example_ \
    }
#define SET(noun_, options_, example_)                                               \
    {                                                                                \
        noun_ " set", "NAME FIELD=VALUE...", "change fields of a " noun_,            \
            ASSIGNMENTS "Whatever is not named stays.  " CHECKED, NEED_STORE,        \
            command_definition_set, noun_, 2, 1000, options_, noun_, false, example_ \
    }

static const struct command list[] = {
    LIST("topic", "topics: MySQL and MariaDB servers", "", NULL, "topic list"),
    GET("topic", "topic get shop"),
    ADD("topic", change_options,
        "topic add shop address=127.0.0.1:3306 user=millrace password_file=/etc/shop.password"),
    SET("topic", change_options, "topic set shop address=db2:3306"),
    DELETE("topic", "Removes only a topic that no database names.", "topic delete old_shop"),
    {"topic reset", "TOPIC", "let a stopped topic continue from now",
     "Continues from the server's current position.  For a topic whose server purged "
     "a log that Millrace still needs, was reset, or was replaced by another server.  "
     "The indexes miss the changes in between, so the topic's tables are marked to "
     "be built again.",
     NEED_DAEMON, command_topic_reset, NULL, 1, 1, yes_options, "topic", false,
     "topic reset shop"},
    {"topic pause", "TOPIC", "stop reading a topic's log until it is resumed",
     "What was read is delivered.  Survives a restart.  status shows since when and why.  "
     "The server must keep its log: if it purges what a paused topic still needs, the "
     "indexes must be built again.",
     NEED_DAEMON, command_topic_pause, NULL, 1, 1, pause_options, "topic", false,
     "topic pause shop --reason 'the server moves'"},
    {"topic resume", "TOPIC", "end a pause, or retry now whatever made a topic stop or wait",
     "For use after the cause is fixed: a password, a privilege, a setting, a server "
     "that is back.  Also retries indexes that are held.",
     NEED_DAEMON, command_topic_resume, NULL, 1, 1, dry_run_options, "topic", false,
     "topic resume shop"},
    {"topic move", "TOPIC", "let another node follow a topic",
     "Shows what would move, asks, and waits until the topic runs on the node, or says why it "
     "does not: exit code 1.  The cluster "
     "keeps it there as long as the node lives and is not evacuated, and moves other topics "
     "to share them evenly; --to any lets the cluster choose again.  Topics whose tables "
     "share an index, or that have the same group, move together.",
     NEED_DAEMON, command_topic_move, NULL, 1, 1, move_options, "topic", false,
     "topic move shop --to db2"},
    LIST("database", "databases", "", NULL, "database list"),
    GET("database", "database get shop"),
    ADD("database", change_options, "database add shop topic=shop"),
    SET("database", change_options, "database set shop schema=shop_2026"),
    DELETE("database", "Removes only a database that no table names.",
           "database delete old_shop"),
    LIST("table", "tables", "", NULL, "table list"),
    GET("table", "table get shop.orders"),
    ADD("table", table_options, "table add shop.orders index=orders 'columns=[id, title]'"),
    SET("table", table_options, "table set shop.orders 'filter=deleted = 0'"),
    {"table delete", "NAME", "remove a table",
     "Retires the table's index: it stays in the search engine, Millrace writes "
     "nothing to it, and millrace index delete deletes it.  Refused while the index "
     "is being built.\n\n"
     "With --with-indexes, also deletes all versions of the index, and those that are retired "
     "already.  Searches by its alias then find nothing.  Refused while a version is being "
     "built, while searches use one, and while an alias points to one, unless --confirm names "
     "the table again; always refused while other tables share the index.  What the engine "
     "does not delete now, Millrace deletes later by itself.",
     NEED_STORE, command_table_delete, "table", 1, 1, table_delete_options, "table", false,
     "table delete shop.old_orders"},
    {"table columns generate", "DATABASE.TABLE",
     "print a definition with every column of a table",
     "Prints a definition file to edit and apply: each column with its field type "
     "and its type in the database, the key, the values that searches do not see, "
     "and the relations that follow from foreign keys.  Applied unchanged, it means "
     "the same as a definition without columns.  Only the database must be defined, "
     "not the table.",
     NEED_STORE, command_columns, NULL, 1, 1, NO_OPTIONS, NULL, false,
     "table columns generate shop.orders"},
    {"column list", "TABLE", "list the columns that a definition names",
     "As the definition has them.  `*` stands for every column that is not listed; a "
     "definition without columns has it alone.  millrace mapping shows all fields.",
     NEED_STORE, command_column_list, "column", 1, 1, look_options, "table", false,
     "column list shop.orders --relation items.product"},
    {"column get", "TABLE COLUMN", "show how a column is defined",
     "Fails for a column that the definition does not list.", NEED_STORE, command_column_get,
     "column", 2, 2, look_options, "table", false, "column get shop.orders title"},
    {"column add", "TABLE COLUMN [FIELD=VALUE...]", "show one more column of a table",
     "Needed only where a definition lists its columns: else all are shown.  " ASSIGNMENTS
         CHECKED,
     NEED_STORE, command_column_add, "column", 2, 1000, column_options, "table", false,
     "column add shop.orders title type=text"},
    {"column set", "TABLE COLUMN FIELD=VALUE...", "change how a column is shown",
     ASSIGNMENTS CHECKED, NEED_STORE, command_column_set, "column", 3, 1000, column_options,
     "table", false, "column set shop.orders name as=product_name --relation items.product"},
    {"column delete", "TABLE COLUMN", "show a column no longer",
     "Takes it out of the list of columns, or skips it where all are shown.  " CHECKED,
     NEED_STORE, command_column_delete, "column", 2, 2, column_options, "table", false,
     "column delete shop.orders secret"},
    LIST("relation", "relations", "[TABLE]", "table", "relation list shop.orders"),
    {"relation get", "TABLE RELATION", "show how related rows are defined",
     "RELATION is the name that documents show, behind the names of the relations that it "
     "hangs from: items, or items.product.  Shows all fields, and the relations that hang "
     "from it.",
     NEED_STORE, command_relation_get, "relation", 2, 2, NO_OPTIONS, "table", false,
     "relation get shop.orders items.product"},
    {"relation add", "TABLE RELATION FIELD=VALUE...", "let documents show related rows",
     "RELATION is the name that documents show, behind the names of the relations that it "
     "hangs from: items, or items.product.  " ASSIGNMENTS CHECKED,
     NEED_STORE, command_relation_add, "relation", 3, 1000, change_options, "table", false,
     "relation add shop.orders items from=id table=shop.order_item to=order_id many=true"},
    {"relation set", "TABLE RELATION FIELD=VALUE...", "change how related rows are shown",
     ASSIGNMENTS CHECKED, NEED_STORE, command_relation_set, "relation", 3, 1000, change_options,
     "table", false, "relation set shop.orders items nested=true limit=100"},
    {"relation delete", "TABLE RELATION", "show related rows no longer",
     "The relations that hang from it go, too.  " CHECKED, NEED_STORE, command_relation_delete,
     "relation", 2, 2, change_options, "table", false, "relation delete shop.orders items"},
};

const struct command_rows definition_rows = {list, ARRAY_LEN(list)};
