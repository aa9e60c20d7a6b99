/*
 * Who sends a request, by the listener it came in at, and whether it may come in there at all.
 *
 * @thread any (never blocks)
 */
#ifndef WEB_CALLER_H
#define WEB_CALLER_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "web/head.h"
#include "web/request.h"

#include <stdbool.h>
#include <sys/types.h>

struct arena;
struct coordinator;
struct sockaddr_storage;
struct word_access;

enum listener_kind {
    LISTENER_SOCKET = 0,
    LISTENER_PAGE,
    LISTENER_METRICS,
    LISTENER_WORDS,
    N_LISTENERS,
};

struct caller_facts {
    enum listener_kind kind;
    struct str listen_address; /* of a port, "127.0.0.1:7700" */
    const char *const *hosts;  /* more names that its Host may have */
    size_t n_hosts;
    bool is_open;                        /* other machines reach the port */
    bool is_tls;                         /* the port speaks TLS */
    struct str from;                     /* the caller's IP address */
    uid_t uid;                           /* of the caller at the unix socket */
    const struct sockaddr_storage *peer; /* the caller's address */
    const struct word_access *words;     /* who may have the words; NULL without that port */
    const struct head *head;
    struct coordinator *coordinator;
    struct arena *arena; /* for the texts of the request */
};

/* Set role, user, address and log-in of req.  Returns false with the problem in res. */
bool caller_check(struct request *req, struct response *res,
                  const struct caller_facts *f) MUST_CHECK;
/*
 * Cut the prefix that the port's paths have off target.  Returns false with the answer in res
 * if target is not below it.
 */
bool caller_enter(struct str *target, struct response *res, struct str prefix) MUST_CHECK;

#endif
