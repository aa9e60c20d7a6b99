#include "config.h"

#include "rebalance/trace/code.h"

#include "src/base/buf.h"

#include <assert.h>
#include <string.h>

enum verdict { UNKNOWN = 0, EQUAL, DIFFERENT };

#define VERIFY  "millrace verify {table} --key {id} --repair"
#define STATUS  "millrace status"
#define REBUILD "millrace index create {table}"

static const struct row {
    const char *word;
    enum verdict verdict;
    const char *sentence, *next; /* {table}, {id}, {index}, {why} and {fix} are filled in */
} rows[N_TRACE_CODES] = {
    [TRACE_BEING_BUILT] = {"being_built", UNKNOWN,
                           "the first index of {table} is being built, and searches do not "
                           "use it yet",
                           "{fix}"},
    [TRACE_NO_INDEX] = {"no_index", UNKNOWN, "table {table} has no index that searches use",
                        REBUILD},
    [TRACE_STOPPED] = {"stopped", UNKNOWN,
                       "table {table} is stopped, so its index does not follow: {why}",
                       "{fix}"},
    [TRACE_TOPIC_PAUSED] = {"topic_paused", UNKNOWN,
                            "Millrace does not read the server of {table}: {why}", "{fix}"},
    [TRACE_NOT_RUNNING] = {"not_running", UNKNOWN,
                           "Millrace does not follow the server of {table} now: {why}", STATUS},
    [TRACE_INDEX_ABSENT] = {"index_absent", UNKNOWN,
                            "the search engine does not have index {index}", REBUILD},
    [TRACE_INDEX_CLOSED] = {"index_closed", UNKNOWN,
                            "index {index} is closed in the search engine",
                            "open it: POST /{index}/_open at the engine"},
    [TRACE_ENGINE_AWAY] = {"engine_away", UNKNOWN,
                           "the search engine does not say what it stores: {why}", STATUS},
    [TRACE_SERVER_AWAY] = {"server_away", UNKNOWN,
                           "a server with rows of {table} cannot be read: {why}", STATUS},
    [TRACE_ASTRAY] = {"astray", UNKNOWN, "searches do not read index {index}: {why}", "{fix}"},

    [TRACE_EQUAL] = {"equal", EQUAL, "document {id} is as its row says", ""},
    [TRACE_SOFT_DELETED] = {"soft_deleted", EQUAL,
                            "row {id} is marked as deleted, so it has no document", ""},
    [TRACE_FILTERED] = {"filtered", EQUAL,
                        "`filter` leaves row {id} out, so it has no document", ""},
    [TRACE_UNROOTED] = {"unrooted", EQUAL,
                        "the parent or root of row {id} is not known, so it has no document",
                        ""},
    [TRACE_NO_ROW] = {"no_row", EQUAL, "there is no row {id}, and no document", ""},
    [TRACE_NOT_FOLLOWED] = {"not_followed", EQUAL,
                            "document {id} is as its row says, but for parts with "
                            "`refresh: none`",
                            ""},
    [TRACE_DELAYED] = {"delayed", EQUAL,
                       "document {id} is as its row says, but for parts of delayed tables "
                       "whose changes wait for a run",
                       ""},

    [TRACE_DROPPED] = {"dropped", UNKNOWN,
                       "row {id} makes a document that {index} lacks; the ingest pipeline of "
                       "{table} may have dropped it",
                       VERIFY},
    [TRACE_PAUSED] = {"paused", UNKNOWN, "index {index} gets nothing: {why}",
                      "millrace index resume {table}"},
    [TRACE_HELD] = {"held", UNKNOWN, "the engine takes nothing for index {index}: {why}",
                    "{fix}"},
    [TRACE_SENT] = {"in_flight", UNKNOWN,
                    "document {id} was sent, and the engine has not answered yet",
                    "wait a moment, and trace again"},
    [TRACE_READING] = {"reading", UNKNOWN, "row {id} is being read for its document",
                       "wait a moment, and trace again"},
    [TRACE_QUEUED] = {"queued", UNKNOWN, "a change of document {id} waits to be delivered",
                      "wait a moment, and trace again"},
    [TRACE_APART] = {"apart", UNKNOWN, "a change of document {id} waits for the end of a drain",
                     "wait a moment, or millrace drain --cancel"},
    [TRACE_UNSTORED] = {"unstored", UNKNOWN,
                        "document {id} was refused or purged, and the store does not have "
                        "that yet",
                        STATUS},
    [TRACE_DEAD_LETTER] = {"dead_letter", UNKNOWN, "document {id} is a dead letter: {why}",
                           "{fix}"},
    [TRACE_PURGED] = {"purged", UNKNOWN,
                      "the change of document {id} was purged, and its row will be read again",
                      "wait until the index takes documents: millrace status"},
    [TRACE_FAN_OUT] = {"fan_out", UNKNOWN,
                       "changes that lead to very many documents of {index} are worked off",
                       "wait for them: millrace status"},
    [TRACE_CASCADE] = {"cascade", UNKNOWN,
                       "rows that foreign keys changed are looked for, and may be in {index}",
                       "wait a moment, and trace again"},
    [TRACE_BY_TIME] = {"by_time", UNKNOWN,
                       "table {table} is read by time, so its documents are late",
                       "wait for its next `sync_every`"},
    [TRACE_NOT_DELIVERED] = {"not_delivered", UNKNOWN,
                             "changes of the server are not read or delivered up to now",
                             "look at the lag: millrace status"},
    [TRACE_CHANGING] = {"changing", UNKNOWN,
                        "the row or document {id} changes while it is looked at",
                        "trace again"},

    [TRACE_LINEAGE] = {"wrong_lineage", DIFFERENT,
                       "document {id} has a version that Millrace did not give out, and never "
                       "overwrites",
                       REBUILD},
    [TRACE_ROUTING] = {"wrong_routing", DIFFERENT,
                       "document {id} is also, or only, under another routing", VERIFY},
    [TRACE_MISSING] = {"missing", DIFFERENT, "row {id} makes a document, and {index} lacks it",
                       VERIFY},
    [TRACE_UNEXPLAINED] = {"unexplained", DIFFERENT,
                           "no row of any table makes a document {id}, and {index} has one",
                           VERIFY},
    [TRACE_EXTRA] = {"extra", DIFFERENT, "row {id} makes no document, and {index} has one",
                     VERIFY},
    [TRACE_DIFFERENT] = {"different", DIFFERENT, "document {id} has other values than its row",
                         VERIFY},

    [TRACE_SHOWN_DIFFERENT] = {"shown_different", DIFFERENT,
                               "row {id} of {table} is shown by a document that is not as "
                               "its own row says: {why}",
                               "{fix}"},
    [TRACE_SHOWN_UNKNOWN] = {"shown_unknown", UNKNOWN,
                             "not all documents that show row {id} of {table} can be judged "
                             "now: {why}",
                             "{fix}"},
    [TRACE_SHOWN_EQUAL] = {"shown_equal", EQUAL,
                           "the documents listed show row {id} of {table}, and are as their "
                           "own rows say",
                           ""},
    [TRACE_SHOWN_NOWHERE] = {"shown_nowhere", EQUAL,
                             "there is no row {id} of {table}, or no document shows it", ""},
};

enum trace_code trace_choose(uint64_t facts)
{
    for (int code = 0; code < N_TRACE_CODES; code++)
        if ((facts & TRACE_FACT(code)) != 0)
            return (enum trace_code)code;
    return TRACE_CHANGING;
}

const char *trace_word(enum trace_code code)
{
    return rows[code].word;
}

const char *trace_verdict(enum trace_code code)
{
    static const char *const words[] = {
        [UNKNOWN] = "unknown", [EQUAL] = "equal", [DIFFERENT] = "different"};

    return words[rows[code].verdict];
}

static struct str name_of(const struct trace_names *n, struct str name)
{
    const struct {
        const char *name;
        struct str is;
    } all[] = {{"table", n->table},
               {"id", n->id},
               {"index", n->index},
               {"why", n->why},
               {"fix", n->fix}};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_equal(str_from(all[i].name), name))
            return all[i].is;
    assert(false);
    return STR("");
}

/* A command names its arguments as a shell takes them. */
static void append(struct buf *b, const char *text, const struct trace_names *n,
                   bool is_command)
{
    for (const char *open; (open = strchr(text, '{')) != NULL;) {
        const char *close = strchr(open, '}');
        const struct str name = {open + 1, (size_t)(close - open) - 1};
        const struct str is = name_of(n, name);
        const bool is_word = str_equal(name, STR("table")) || str_equal(name, STR("id"));

        buf_append(b, (struct str){text, (size_t)(open - text)});
        if (is_command && is_word)
            buf_append_word(b, is);
        else
            buf_append(b, is);
        text = close + 1;
    }
    buf_append(b, str_from(text));
}

void trace_append_sentence(struct buf *b, enum trace_code code, const struct trace_names *n)
{
    append(b, rows[code].sentence, n, false);
}

void trace_append_next(struct buf *b, enum trace_code code, const struct trace_names *n)
{
    struct trace_names names = *n;

    names.fix = n->fix.len > 0 ? n->fix : STR(STATUS " says more");
    append(b, rows[code].next, &names, true);
}
