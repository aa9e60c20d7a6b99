/*
 * One command's talk with the daemon, or with the store where none runs.
 *
 * Finds the configuration and the socket, opens what the command needs, sends its calls, and
 * prints the answers in the form that -o asks for; what is refused is told on standard error.
 *
 * @thread main
 */
#ifndef SRC_SESSION_H
#define SRC_SESSION_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/command.h"
#include "src/render.h"
#include "web/request.h"

#include <stdbool.h>

struct session;

/* One call of the API; target and body are the session's from session_ask() on. */
struct call {
    enum request_method method;
    struct buf target;
    struct buf body;
};

/* How an answer is printed as a table. */
typedef void (*view_fn)(struct buf *out, struct render_style style, struct str json);

bool session_open(struct session **out, const struct invocation *inv,
                  struct err *err) MUST_CHECK;
void session_close(struct session *s); /* NULL is fine */
/* Whether a daemon answers (else this process does). */
bool session_has_daemon(const struct session *s);

/*
 * Send call.  EXIT_DONE: answer, which is to be freed, has the body.  Else what was wrong has
 * been said on standard error, and the exit code fits.
 */
int session_ask(struct session *s, struct call *call, struct buf *answer) MUST_CHECK;

/* The same for whoever takes a status as an answer: *status is not judged, nothing is said. */
int session_try(struct session *s, struct call *call, struct buf *answer,
                int *status) MUST_CHECK;

/* Say a list of problems (of an answer's "errors" or "warnings") on standard error. */
void session_say_problems(struct str list);

/* Print an answer to standard output.  view NULL: as YAML. */
int session_print(const struct invocation *inv, struct str json, view_fn view) MUST_CHECK;

/* Whether what was asked for came about, by the answer. */
typedef bool (*session_fine_fn)(struct str json);

/* Open, send one call, print the answer, close. */
int session_run(const struct invocation *inv, struct call *call, view_fn view) MUST_CHECK;
/* The same; EXIT_FAILED where the answer that was printed is not fine. */
int session_run_if(const struct invocation *inv, struct call *call, view_fn view,
                   session_fine_fn fine) MUST_CHECK;

/* Write text to standard output, all of it: EXIT_DONE, or said and EXIT_FAILED. */
int session_put(struct str text) MUST_CHECK;

/*
 * Ask on the terminal whether to do it.  EXIT_DONE: yes, or --yes was given.  Without a
 * terminal
 * --yes is needed.
 */
int session_confirm(const struct invocation *inv, const char *question,
                    const char *name) MUST_CHECK;

/* Start a target with the path; then segments and parameters. */
void call_path(struct call *call, const char *path);
void call_segment(struct call *call, const char *text);
void call_param(struct call *call, const char *name, const char *value); /* NULL: left out */

#endif
