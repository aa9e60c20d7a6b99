/*
 * The handlers of the API; each turns one request into one call of the coordinator.
 *
 * A handler gets a request that fits its route (method, role, arguments) and fills in the
 * answer.  It runs on a pool thread, so it may block on MySQL, the engine or the store.
 *
 * @thread any
 */
#ifndef WEB_API_H
#define WEB_API_H

#include "src/base/str.h"

#include <stddef.h>

struct attempts;
struct coordinator;
struct operation;
struct request;
struct response;
struct route;
struct word_access;

/* What the handlers act on.  Everything is borrowed. */
struct api {
    struct coordinator *coordinator;
    struct str version;              /* the program's */
    struct str prefix;               /* of all paths at the port: "/millrace"; empty: none */
    struct attempts *attempts;       /* log-ins; NULL: nobody logs in here */
    const struct word_access *words; /* who may have the words; NULL: nobody */
};

struct api_call {
    const struct api *api;
    const struct request *req;
    const char *noun;           /* of the route, or NULL */
    const struct operation *op; /* of the route */
    struct str args[2];         /* the values for the braces in the route's pattern */
    bool dry_run;               /* the parameter of this name, of operations that have it */
    struct response *res;

    /* All routes, for their description. */
    const struct route *routes;
    size_t n_routes;
};

/* Open to everyone who reaches a listener. */
void api_page(struct api_call *c);      /* the admin page, or what takes its place */
void api_page_file(struct api_call *c); /* the file args[0] of the admin page */
void api_status_page(struct api_call *c);
void api_metrics(struct api_call *c);
void api_live(struct api_call *c);
void api_ready(struct api_call *c);

void api_version(struct api_call *c);
void api_openapi(struct api_call *c);
void api_config(struct api_call *c);
void api_status(struct api_call *c);
void api_events(struct api_call *c);
void api_history(struct api_call *c);
void api_doctor(struct api_call *c);
void api_doctor_start(struct api_call *c);

/* The settings of delivery; args[0] names one. */
void api_delivery(struct api_call *c);
void api_delivery_set(struct api_call *c);
void api_delivery_reset(struct api_call *c);
void api_drain(struct api_call *c);
void api_drain_cancel(struct api_call *c);
void api_alarm_test(struct api_call *c);

/* Definitions. */
void api_apply(struct api_call *c);
void api_export(struct api_call *c);
void api_list(struct api_call *c); /* the definitions of kind c->noun; args[0] names one */
void api_log(struct api_call *c);  /* the events; args[0]: of a table, or one */
/* stores the definition of kind c->noun that args[0] names */
void api_put_definition(struct api_call *c);
void api_delete(struct api_call *c);       /* deletes args[0], of kind c->noun */
void api_table_delete(struct api_call *c); /* the table args[0] with its indexes */
void api_topic_reset(struct api_call *c);
void api_topic_pause(struct api_call *c);
void api_topic_resume(struct api_call *c);
void api_explain(struct api_call *c);
void api_explain_draft(struct api_call *c);
void api_mapping(struct api_call *c);
void api_mapping_draft(struct api_call *c);
void api_columns(struct api_call *c);

/* Users, tokens of scripts, log-ins; args[0] names one. */
void api_put_user(struct api_call *c);
void api_delete_user(struct api_call *c);
void api_put_token(struct api_call *c);
void api_set_token(struct api_call *c);
void api_delete_token(struct api_call *c);
void api_log_in(struct api_call *c);
void api_log_out(struct api_call *c);
void api_me(struct api_call *c);           /* who the caller is */
void api_put_password(struct api_call *c); /* the caller's own */
void api_first_admin(struct api_call *c);

/* Nodes that share the store; args[0] names one. */
void api_nodes(struct api_call *c);
void api_node_forget(struct api_call *c);
void api_node_rebalance(struct api_call *c);
void api_node_evacuate(struct api_call *c);
void api_node_admit(struct api_call *c);
void api_topic_move(struct api_call *c); /* the topic args[0] */

/* Index versions and builds of the table args[0]. */
void api_index_create(struct api_call *c);
void api_index_set(struct api_call *c);
void api_index_cutover(struct api_call *c);
void api_index_pause(struct api_call *c);
void api_index_resume(struct api_call *c);
void api_index_refresh(struct api_call *c);
void api_index_refresh_cancel(struct api_call *c);
void api_index_rollback(struct api_call *c);
void api_index_reset(struct api_call *c);
void api_index_delete(struct api_call *c);

/* Documents of the table args[0]. */
void api_verify(struct api_call *c);
void api_trace(struct api_call *c);
void api_replay(struct api_call *c);
void api_audit(struct api_call *c);
void api_reports(struct api_call *c);
void api_report(struct api_call *c); /* of the job args[0] */

void api_dead_letters(struct api_call *c);
void api_dead_letter(struct api_call *c);
void api_dead_letter_replay(struct api_call *c);
void api_dead_letter_discard(struct api_call *c);
void api_delayed(struct api_call *c);
void api_delayed_runs(struct api_call *c);
void api_delayed_run(struct api_call *c);
void api_delayed_done(struct api_call *c);

/* Words of the analyzer; args[0] is a list and args[1] a word. */
void api_words(struct api_call *c);
void api_word(struct api_call *c);
void api_word_add(struct api_call *c);
void api_word_set(struct api_call *c);
void api_word_delete(struct api_call *c);
void api_words_delete(struct api_call *c);
void api_word_publish(struct api_call *c);
void api_word_import(struct api_call *c);
void api_word_export(struct api_call *c);
void api_word_status(struct api_call *c);
void api_word_try(struct api_call *c);
/* The file args[1] of published words, for who knows the token args[0]. */
void api_words_file(struct api_call *c);

#endif
