/*
 * One command's conversation with the daemon, or with the store if no daemon runs.
 *
 * Finds the configuration and the socket, opens what the command needs, sends its calls, and
 * prints the answers in the form that -o asks for and errors on standard error.
 *
 * @thread main
 */
#ifndef SRC_CLI_SESSION_H
#define SRC_CLI_SESSION_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/cli/command.h"
#include "src/cli/view/render.h"
#include "web/request.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

/*
 * One call of the API.  session_ask() and session_try() take over target and body and free
 * them.
 */
struct call {
    enum request_method method;
    struct buf target;
    struct buf body;
    bool is_question; /* EXIT_FAILED is one of its answers: a refusal is EXIT_USAGE */
};

/* Appends an answer as text for people. */
typedef void (*view_fn)(struct buf *out, struct render_style style, struct str json);

bool session_open(struct session **out, const struct invocation *inv,
                  struct err *err) MUST_CHECK;
void session_close(struct session *s); /* NULL is fine */
/* A daemon that has not answered a call after so many seconds is EXIT_BUSY. */
void session_limit(struct session *s, unsigned seconds);
/* From now on, refuse (412) to change definitions that are of another revision. */
void session_require(struct session *s, uint64_t revision);
/* True if a daemon answers, false if this process does. */
bool session_has_daemon(const struct session *s);

/*
 * Send call.  EXIT_DONE: answer has the body, and the caller frees it.  Otherwise: prints the
 * error on standard error and returns the exit code that fits.
 */
int session_ask(struct session *s, struct call *call, struct buf *answer) MUST_CHECK;

/*
 * The same of what takes turns with others (rebalance/state/turns.h): while it is not its turn,
 * ask again, up to --attempts times, after pauses of 1, 2, 4 ... 60 seconds, and say so on
 * standard error.  In between the daemon may be away.  In the end EXIT_BUSY.
 */
int session_ask_in_turn(struct session *s, const struct invocation *inv, struct call *call,
                        struct buf *answer) MUST_CHECK;

/*
 * The same, but any HTTP status counts as an answer: it is put into *status and nothing is
 * printed.
 */
int session_try(struct session *s, struct call *call, struct buf *answer,
                int *status) MUST_CHECK;

/*
 * Wait until the job has a report, and show how far it is on standard error; what: which table
 * it is about, or what it does.  EXIT_DONE: the caller frees the report.
 */
int session_wait_for_job(struct session *s, const char *what, const char *job,
                         struct buf *report) MUST_CHECK;

/* Print a list of problems (an answer's "errors" or "warnings") on standard error. */
void session_say_problems(struct str list);

/*
 * Append an answer in the form of -o, for a terminal in style; as YAML if view is NULL.  JSON
 * is one line.
 */
void session_render(const struct invocation *inv, struct str json, view_fn view,
                    struct buf *out);
/* Print an answer to standard output in that form. */
int session_print(const struct invocation *inv, struct str json, view_fn view) MUST_CHECK;
/* Whether the answer is that of a dry run; then say so on standard error. */
bool session_say_dry_run(struct str json);

/* Whether, by its answer, the request achieved what it was for. */
typedef bool (*session_fine_fn)(struct str json);

/* Open, send one call, print the answer, close. */
int session_run(const struct invocation *inv, struct call *call, view_fn view) MUST_CHECK;
/* The same, but EXIT_FAILED if fine() returns false for the printed answer. */
int session_run_if(const struct invocation *inv, struct call *call, view_fn view,
                   session_fine_fn fine) MUST_CHECK;

/*
 * Write all of text to standard output.  On failure prints the reason and returns EXIT_FAILED.
 */
int session_put(struct str text) MUST_CHECK;

/*
 * Ask for confirmation on the terminal.  EXIT_DONE: the answer was yes, or --yes was given.
 * Without a terminal --yes is required, else EXIT_USAGE.
 */
int session_confirm(const struct invocation *inv, const char *question,
                    const char *name) MUST_CHECK;

/* Start a target with a path, then append segments and parameters. */
void call_path(struct call *call, const char *path);
void call_segment(struct call *call, const char *text);
void call_param(struct call *call, const char *name, const char *value); /* NULL: left out */
/* With --dry-run nothing is changed, so session_confirm() does not ask. */
void call_dry_run(struct call *call, const struct invocation *inv);

#endif
