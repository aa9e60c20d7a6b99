/*
 * A whole node, built bottom-up from its configuration and taken down in reverse: data folder,
 * store, search engine, coordinator, web server.
 *
 * An app that is only opened answers the API inside this process; the commands that need no
 * daemon use that.  A started app also does the node's work and serves the API.
 *
 * @thread main
 */
#ifndef SRC_APP_APP_H
#define SRC_APP_APP_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct api;
struct app;
struct buf;
struct configuration;

/* Check the settings, as far as that is possible without opening anything. */
bool app_check(const struct configuration *c, struct err *err) MUST_CHECK;

/*
 * Open the node's parts.  c is borrowed until app_close().  ERR_RETRY: another process works on
 * this data.
 */
bool app_open(struct app **out, const struct configuration *c, struct err *err) MUST_CHECK;
/* Listen, then start the coordinator.  After a failure call only app_close(). */
bool app_start(struct app *app, struct err *err) MUST_CHECK;
/*
 * Apply a configuration that was read again: all settings that can change at run time, or none
 * of them.
 */
bool app_configure(struct app *app, const struct configuration *c, struct err *err) MUST_CHECK;
/* How long app_stop() may spend on delivering pending changes, in milliseconds. */
int64_t app_stop_ms(const struct app *app);
/* Deliver pending changes, save, stop listening.  Blocks. */
void app_stop(struct app *app);
void app_close(struct app *app); /* NULL is fine */

/* What the routes act on.  Borrowed; lives as long as app. */
const struct api *app_api(const struct app *app);
/* The address of the page, "127.0.0.1:7700"; empty without a port.  Only after app_start(). */
const char *app_address(const struct app *app);
/* Append where people find the page, "https://127.0.0.1:7700/millrace/"; without a port
 * nothing. */
void app_append_page(const struct app *app, struct buf *out);
/* Whether the port waits for a first admin, as other machines reach it. */
bool app_lacks_admin(const struct app *app);
/* The address of the metrics' own port, "127.0.0.1:7701"; empty without one.  The same. */
const char *app_metrics_address(const struct app *app);

/* Append the path of the store's file, for a store in SQLite. */
void app_store_path(struct buf *out, const struct configuration *c);
/* Append the path of the key that opens the passwords in the store. */
void app_key_path(struct buf *out, const struct configuration *c);
/* Append the path of the socket: as c names it, or millrace.sock in the data folder. */
void app_socket_path(struct buf *out, const struct configuration *c);

#endif
