/*
 * The whole of a node, built from its configuration bottom up and taken down in reverse: data
 * folder, store, search engine, coordinator, web server.
 *
 * Opened only, it answers the API in this process (the commands that work without a daemon);
 * started, it does its work and serves.
 *
 * @thread main
 */
#ifndef SRC_APP_H
#define SRC_APP_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct api;
struct app;
struct buf;
struct configuration;

/* Whether the settings can be used, as far as they tell by themselves; opens nothing. */
bool app_check(const struct configuration *c, struct err *err) MUST_CHECK;

/* c is borrowed.  ERR_RETRY: another process works on this data. */
bool app_open(struct app **out, const struct configuration *c, struct err *err) MUST_CHECK;
/* Listen, then start the coordinator.  After a failure only app_close() is left. */
bool app_start(struct app *app, struct err *err) MUST_CHECK;
/* The configuration was read again: what can change at run time does, all of it or nothing. */
bool app_configure(struct app *app, const struct configuration *c, struct err *err) MUST_CHECK;
/* How long app_stop() may deliver what is under way. */
int64_t app_stop_ms(const struct app *app);
/* Deliver what is under way, save, stop listening. */
void app_stop(struct app *app);
void app_close(struct app *app); /* NULL is fine */

/* What the routes act on; lives as long as app. */
const struct api *app_api(const struct app *app);
/* "127.0.0.1:7700", empty without a port.  Started only. */
const char *app_address(const struct app *app);

/* Append the path of the socket that c names. */
void app_socket_path(struct buf *out, const struct configuration *c);

#endif
