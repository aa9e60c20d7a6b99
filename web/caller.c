#include "config.h"

#include "web/caller.h"

#include "rebalance/access/access.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "web/access/identity.h"
#include "web/edge/address.h"
#include "web/edge/prefix.h"
#include "web/words/access.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool refuse(struct response *res, const struct response_problem *p)
{
    response_set_problem(res, p);
    return false;
}

/* ---- the unix socket ---- */

static struct str name_user(struct arena *a, uid_t uid)
{
    char text[32];

    snprintf(text, sizeof(text), "uid %u", (unsigned)uid);
    return arena_copy(a, str_from(text));
}

/* Set the role by the user at the other end. */
static bool check_peer(struct request *req, struct response *res, const struct caller_facts *f)
{
    if (f->uid == 0 || f->uid == geteuid()) {
        req->role = ROLE_ADMIN;
        req->user = name_user(f->arena, f->uid);
        return true;
    }
    return refuse(res, &(struct response_problem){
                           .status = 403,
                           .code = "not-your-daemon",
                           .detail = STR("this daemon runs as another user, and only that "
                                         "user and root may use its socket"),
                           .fix = STR("run the command with sudo, or as that user")});
}

/* ---- the port ---- */

static bool check_host(struct response *res, const struct caller_facts *f)
{
    struct str name = f->listen_address;
    const char *colon = strrchr(name.ptr, ':');

    name.len = (size_t)(colon - name.ptr);
    if (request_host_allowed(f->head->host, name))
        return true;
    for (size_t i = 0; i < f->n_hosts; i++)
        if (str_equal_any_case(request_host_name(f->head->host), str_from(f->hosts[i])))
            return true;
    return refuse(res,
                  &(struct response_problem){
                      .status = 421,
                      .detail = STR("this port is not served under this name"),
                      .fix = STR("open it as localhost or 127.0.0.1; from other machines, or "
                                 "behind a reverse proxy, name its host in web.hosts")});
}

/* What other machines reach waits for somebody who is responsible for it. */
static bool check_admin(struct response *res, const struct caller_facts *f)
{
    return !f->is_open || coordinator_has_admin(f->coordinator) ||
           refuse(res, &(struct response_problem){
                           .status = 403,
                           .code = "no-admin-yet",
                           .detail = STR("other machines reach this port, and nobody has the "
                                         "role admin yet"),
                           .fix = STR("on the daemon's machine, run millrace user add NAME "
                                      "--role admin")});
}

/* "user anna (192.0.2.7)" */
static struct str name_caller(const struct caller_facts *f, struct str who)
{
    struct buf text = {0};

    buf_printf(&text, "%" STR_FMT " (%" STR_FMT ")", STR_ARG(who), STR_ARG(f->from));

    const struct str kept = arena_copy(f->arena, buf_str(&text));

    buf_free(&text);
    return kept;
}

/* Set the role by what the caller shows: nothing, a token, or a log-in. */
static bool check_identity(struct request *req, struct response *res,
                           const struct caller_facts *f)
{
    const struct credentials shown = {.authorization = f->head->authorization,
                                      .cookie = f->head->cookie,
                                      .origin = f->head->origin,
                                      .host = f->head->host,
                                      .is_tls = f->is_tls,
                                      .changes = req->method != METHOD_GET};
    struct port_caller who;
    const enum identity_verdict verdict = identity_find(&who, f->coordinator, f->arena, &shown);

    req->role = who.role;
    req->from = f->from;
    req->sender = address_sender(f->peer);
    req->is_open = f->is_open;
    req->origin = f->head->origin;
    req->session = who.session;
    req->account = who.user;
    req->sees_rows = who.sees_rows;
    req->user = who.who.len > 0 ? name_caller(f, who.who) : STR("");
    switch (verdict) {
    case IDENTITY_FINE: return true;
    case IDENTITY_UNKNOWN:
        response_ask_for_token(res, STR("nobody has the token that the request shows, or it "
                                        "has ended"));
        return false;
    case IDENTITY_CROSS_SITE: break;
    }
    return refuse(res, &(struct response_problem){
                           .status = 403,
                           .code = "cross-site",
                           .detail = STR("a page of another site may have sent this request"),
                           .fix = STR("send the page's own address as Origin, or use a token "
                                      "instead of a log-in")});
}

/* ---- the port of the words ---- */

/* The address must be one of those that may have the words. */
static bool check_address(struct request *req, struct response *res,
                          const struct caller_facts *f)
{
    req->role = ROLE_WORDS;
    req->from = f->from;
    return word_access_admits(f->words, (const struct sockaddr *)f->peer) ||
           refuse(res, &(struct response_problem){
                           .status = 403,
                           .code = "not-allowed",
                           .detail = STR("your address is not among those that may have words"),
                           .fix = STR("add it to words.allow in the configuration")});
}

/*
 * Whatever name an orchestrator uses for the listener of the metrics, Host says nothing there.
 */
bool caller_check(struct request *req, struct response *res, const struct caller_facts *f)
{
    switch (f->kind) {
    case LISTENER_SOCKET: return check_peer(req, res, f);
    case LISTENER_PAGE:
        return check_host(res, f) && check_admin(res, f) && check_identity(req, res, f);
    case LISTENER_WORDS: return check_address(req, res, f);
    case LISTENER_METRICS:
    case N_LISTENERS: break;
    }
    req->role = ROLE_PROBE;
    return true;
}

bool caller_enter(struct str *target, struct response *res, struct str prefix)
{
    char place[PREFIX_MAX + 2];

    switch (prefix_cut(target, prefix)) {
    case PREFIX_FITS: return true;
    case PREFIX_OTHER:
        return refuse(res,
                      &(struct response_problem){
                          .status = 404,
                          .code = "no-such-route",
                          .detail = STR("this port serves nothing at this address"),
                          .fix = STR("put web.prefix of its configuration before the path")});
    case PREFIX_BARE: break;
    }
    snprintf(place, sizeof(place), "%" STR_FMT "/", STR_ARG(prefix));
    response_add_header(res, "Location", place);
    return refuse(res,
                  &(struct response_problem){
                      .status = 308,
                      .detail = STR("what is below this path is at the path with a slash")});
}
