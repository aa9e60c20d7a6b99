/*
 * The routes: one table of method, path, role and handler.  docs/api.md has a section for each.
 *
 * A route says what it concerns.  If several nodes share the store, the request goes to the
 * owner of that topic, and its answer comes back unchanged (pass_on.h); its handler knows
 * nothing of that.
 *
 * Paths match by whole segments, each decoded once; {name} matches any one segment.
 *
 * @thread any (immutable)
 */
#ifndef WEB_ROUTES_H
#define WEB_ROUTES_H

#include "src/base/base.h"
#include "web/api.h"
#include "web/request.h"

#include <stddef.h>

struct operation;

enum concern {
    CONCERNS_NODE = 0,    /* no topic, or what each node knows: whoever is asked answers */
    CONCERNS_TOPIC,       /* args[0] */
    CONCERNS_ASKED_TOPIC, /* the parameter `topic` of the query; none: CONCERNS_NODE */
    CONCERNS_TABLE,       /* the topic whose owner works on the index of the table args[0] */
    CONCERNS_LETTERS,     /* the topics of the dead letters that the body names */
    CONCERNS_DELAYED,     /* the topics of the snapshots that the body names */
};

enum route_trait {
    MAY_REPEAT = 1, /* the request may be carried out twice */
    OR_HERE = 2, /* what it stores suffices: if no owner takes it, this node carries it out */
    IS_QUESTION = 4,    /* it changes nothing, though it is no GET */
    ANSWERS_BEFORE = 8, /* its answer has what was before; its body may have secrets */
    SHOWS_ROWS = 16,    /* rows keep it from viewers: those who may see them may use it */
    TAKES_KEY = 32,     /* it starts something: with an Idempotency-Key it does so once */
};

struct route {
    enum request_method method;
    const char *pattern;
    enum access_role role; /* the least role that may use it */
    void (*handle)(struct api_call *c);
    const char *noun;
    size_t body_max; /* bytes; 0: no body */
    enum concern concern;
    unsigned traits; /* enum route_trait */
    const char *summary;
    const struct operation *op; /* what it takes and answers */
};

const struct route *routes_table(size_t *n);

/*
 * Find the route of req and put its arguments into args.  Returns NULL if none fits or req's
 * role is too low; then res holds the problem.  For ROLE_PROBE and ROLE_WORDS, nothing else
 * exists.
 */
const struct route *routes_find(const struct request *req, struct str args[2],
                                struct response *res);

/* Find the route and call its handler.  Fills res in every case. */
void routes_handle(const struct api *api, const struct request *req, struct response *res);

#endif
