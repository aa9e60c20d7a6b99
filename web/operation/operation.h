/*
 * What a request of the API takes beside its path, and what it answers: one struct operation
 * for each kind of request.  The table of routes names them (web/routes.c).
 *
 * A parameter or member stands here once: the router and the handlers refuse all others
 * (web/body.h), and the description of the API shows them (web/openapi.h).  The members of a
 * form are in forms.json, which the build puts into the program.
 *
 * @thread any (immutable)
 */
#ifndef WEB_OPERATION_OPERATION_H
#define WEB_OPERATION_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

enum input_type {
    INPUT_TEXT = 0,
    INPUT_COUNT,   /* a whole number, in a body also a text of its digits */
    INPUT_FLAG,    /* true or false */
    INPUT_CHOICE,  /* one of `choices` */
    INPUT_DAY,     /* a text such as 2026-11-27 */
    INPUT_TEXTS,   /* a list of 1 to `max` texts */
    INPUT_NUMBERS, /* a list of 1 to `max` whole numbers from 1 */
    INPUT_OBJECTS, /* a list of 1 to `max` objects, which have the members `item` */
    INPUT_MAP,     /* an object whose values are texts */
};

/* A parameter of the query or a member of the body. */
struct input {
    const char *name; /* NULL ends a list */
    enum input_type type;
    bool required;
    const char *help;
    const char *choices;      /* separated by spaces */
    size_t min;               /* characters of a text; of a count the least */
    size_t max;               /* items; of a count the largest, 0: INPUT_COUNT_MAX */
    const struct input *item; /* a list */
    bool is_for_admins;       /* a member that only an admin may send */
};

/* The answer to a request that succeeds. */
struct operation_answer {
    int status; /* 0 ends a list */
    const char
        *forms;       /* "verify/1 replay/1": a form, or one of these; NULL: that of the noun */
    const char *type; /* of a body that is no JSON, else NULL */
};

/* The parameters of a list of which the store makes no pages. */
#define LIST_PAGE                                                                          \
    {"after", INPUT_TEXT, .help = "The `next` of the page before: only what follows it."}, \
    {                                                                                      \
        "limit", INPUT_COUNT, .help = "How many, 10000 at most; 0 or without it: 10000."   \
    }

/* 2^53 - 1: a larger one may have been another one until a double took it. */
#define INPUT_COUNT_MAX       9007199254740991
#define OPERATION_ANSWERS_MAX 3 /* with the end */
#define APPLY_FILES_MAX       1000
#define WORDS_OF_A_CALL_MAX   1000

struct operation {
    const struct input *params;     /* of the query; NULL: none */
    const struct input *members;    /* of the body; NULL: no body, or as takes_... say */
    const struct input *or_members; /* of the body if it has the first of these; NULL: never */
    bool is_list;                   /* the answer comes in pages (web/list/list_page.h) */
    bool any_params;                /* whatever the query has is ignored */
    bool takes_settings;            /* the body's members are the settings of delivery */
    bool takes_definition;          /* the body is a definition of the noun's kind */
    bool tells_revision;            /* the answer has an ETag */
    bool asks_revision;             /* the request may have If-Match */
    const char *problems; /* statuses beside those that each request may have: "409 422" */
    struct operation_answer answers[OPERATION_ANSWERS_MAX];
};

/* A list without an input: the body may be absent, or an empty object. */
extern const struct input no_input[];
/* The parameter of what can be tried without changing anything. */
extern const struct input dry_run_input[];
/* The members of a definition file in a body. */
extern const struct input file_input[];

/* Parts of the schemas of all forms, JSON objects without their braces (forms.c). */
extern const char *const operation_forms[];
extern const size_t n_operation_forms;

/* The daemon (daemon.c). */
extern const struct operation op_page, op_page_file, op_status_page, op_metrics, op_live,
    op_ready, op_version, op_openapi, op_config, op_delivery, op_delivery_set,
    op_delivery_reset, op_drain, op_drain_cancel, op_status, op_events, op_history, op_doctor,
    op_doctor_start, op_audit, op_alarm_test;

/* Users, tokens, log-ins (access.c). */
extern const struct operation op_me, op_log_in, op_log_out, op_put_password, op_first_admin,
    op_put_user, op_put_token, op_set_token, op_delete_access;

/* Definitions, and the nodes that share them (definitions.c). */
extern const struct operation op_apply, op_put_definition, op_export, op_list, op_log,
    op_list_definitions, op_delete, op_table_delete, op_explain, op_explain_draft, op_mapping,
    op_mapping_draft, op_columns, op_topic_reset, op_topic_pause, op_topic_resume,
    op_topic_move, op_nodes, op_node_forget, op_node_change;

/* Index versions and builds (index.c). */
extern const struct operation op_index_create, op_index_set, op_index_cutover, op_index_pause,
    op_index_resume, op_index_refresh, op_index_refresh_cancel, op_index_rollback,
    op_index_reset, op_index_delete;

/* Documents: verifications, dead letters, changes of delayed tables (documents.c). */
extern const struct operation op_verify, op_replay, op_trace, op_reports, op_report,
    op_dead_letters, op_dead_letter, op_dead_letter_replay, op_dead_letter_discard, op_delayed,
    op_delayed_runs, op_delayed_run, op_delayed_done;

/* Words of the analyzer (words.c). */
extern const struct operation op_words, op_word, op_word_add, op_word_publish, op_words_delete,
    op_word_import, op_word_set, op_word_delete, op_word_export, op_word_status, op_word_try,
    op_words_file;

#endif
