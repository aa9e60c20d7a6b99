/*
 * The routes: one table of method, path, role and handler; docs/api.md has a section for each.
 *
 * Paths are matched by whole segments after one decoding; {name} stands for one segment.
 *
 * @thread any (immutable)
 */
#ifndef WEB_ROUTES_H
#define WEB_ROUTES_H

#include "src/base/base.h"
#include "web/api.h"
#include "web/request.h"

#include <stddef.h>

struct route {
    enum request_method method;
    const char *pattern;
    enum request_role role; /* the least that may use it; ROLE_NONE: open to the port */
    void (*handle)(struct api_call *c);
    const char *noun;
    size_t body_max; /* bytes; 0: no body */
    const char *summary;
};

const struct route *routes_table(size_t *n);

/*
 * The route of req, with its arguments in args.  NULL: none fits, or it is not for req's role,
 * and res holds the problem.
 */
const struct route *routes_find(const struct request *req, struct str args[2],
                                struct response *res);

/* Find and call.  Fills res in every case. */
void routes_handle(const struct api *api, const struct request *req, struct response *res);

#endif
