#include "config.h"

#include "src/app.h"

#include "rebalance/coordinator.h"
#include "rebalance/delivery_values.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/configuration.h"
#include "src/file_lock.h"
#include "src/mysql.h"
#include "src/search.h"
#include "src/search_access.h"
#include "src/search_sniff.h"
#include "src/store.h"
#include "src/store_address.h"
#include "web/listen.h"
#include "web/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct app {
    const struct configuration *c;
    const char *data;
    struct file_lock *lock; /* of the data folder; a SQLite store has its own */
    struct store *store;
    struct search *search;
    struct search_sniff *sniff; /* or NULL */
    struct coordinator *coordinator;
    bool started; /* the coordinator */
    struct buf config_json;
    struct buf socket;
    struct api api;
    struct server *server;
};

/* ---- the data folder ---- */

static bool data_trouble(const struct app *app, int why, struct err *err)
{
    return err_set_code(
        err, ERR_REJECT, "errno", why, "the data folder %.200s: %s; fix: %s", app->data,
        strerror(why),
        configuration_file(app->c) != NULL
            ? "give it to this user, or change data: in the configuration"
            : "write a millrace.yaml here or in /etc/millrace (there is none) that says where, "
              "such as \"data: ./data\" and \"search: {url: http://127.0.0.1:9200}\"");
}

/* Make each folder of the path that is not there yet. */
static bool make_folders(const char *path)
{
    char *copy = mem_copy(path);
    bool ok = true;

    for (char *p = copy + 1; ok && *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        ok = mkdir(copy, S_IRWXU) == 0 || errno == EEXIST;
        *p = '/';
    }
    ok = ok && (mkdir(copy, S_IRWXU) == 0 || errno == EEXIST);
    free(copy);
    return ok;
}

static bool open_data(struct app *app, struct err *err)
{
    struct stat st;

    app->data = configuration_text(app->c, "data");
    if (!make_folders(app->data) || stat(app->data, &st) == -1)
        return data_trouble(app, errno, err);
    if (!S_ISDIR(st.st_mode))
        return data_trouble(app, ENOTDIR, err);
    if (access(app->data, R_OK | W_OK | X_OK) == -1)
        return data_trouble(app, errno, err);
    return true;
}

/* ---- the store ---- */

static void in_data(struct buf *path, const struct app *app, const char *name)
{
    buf_printf(path, "%s/%s", app->data, name);
}

static struct mysql_tls store_tls(const struct configuration *c)
{
    struct mysql_tls tls = {
        .verify = configuration_bool(c, "store_tls.verify"),
        .ca_file = configuration_text(c, "store_tls.ca_file"),
        .cert_file = configuration_text(c, "store_tls.cert_file"),
        .key_file = configuration_text(c, "store_tls.key_file"),
    };

    tls.enabled = tls.ca_file != NULL || tls.cert_file != NULL;
    return tls;
}

static bool open_mysql_store(struct app *app, const char *address, struct err *err)
{
    struct store_address a;
    struct buf lock = {0};
    char *password = NULL;
    bool ok;

    if (!store_address_parse(&a, address, err))
        return false;
    in_data(&lock, app, "millrace.lock");
    ok = file_lock_take(&app->lock, lock.ptr, err) &&
         configuration_secret(app->c, "store_password", &password, err);
    if (ok) {
        struct mysql_options opt = {.host = a.host,
                                    .port = a.port,
                                    .user = a.user,
                                    .password = password,
                                    .database = a.database,
                                    .tls = store_tls(app->c)};

        ok = store_open_mysql(&app->store, &opt, err) || err_wrap(err, "store %s", address);
    }
    free(password);
    buf_free(&lock);
    store_address_free(&a);
    return ok;
}

static bool open_store(struct app *app, struct err *err)
{
    const char *address = configuration_text(app->c, "store");
    struct buf path = {0};

    if (strcmp(address, "sqlite") != 0)
        return open_mysql_store(app, address, err);
    in_data(&path, app, "millrace.db");

    bool ok = store_open_sqlite(&app->store, path.ptr, err);

    buf_free(&path);
    return ok;
}

/* ---- the search engine ---- */

static bool open_search(struct app *app, struct err *err)
{
    struct search_access access;
    const bool ok = search_access_open(&access, app->c, err);

    if (ok) {
        app->search = search_new(&access.options);
        if (configuration_bool(app->c, "search.sniff"))
            app->sniff = search_sniff_start(
                app->search, configuration_number(app->c, "search.sniff_interval"));
    }
    search_access_close(&access);
    return ok;
}

/* ---- the coordinator ---- */

static struct delivery_values *configured_delivery(const struct configuration *c)
{
    struct delivery_values *v = delivery_values_new();

    for (size_t i = 0; i < n_settings; i++)
        if (strncmp(settings[i].name, "delivery.", strlen("delivery.")) == 0)
            delivery_values_configure(v, settings[i].name,
                                      configuration_text(c, settings[i].name),
                                      configuration_origin(c, settings[i].name));
    return v;
}

static bool open_coordinator(struct app *app, struct err *err)
{
    struct delivery_values *values = configured_delivery(app->c);
    struct coordinator_options opt = {
        .store = app->store,
        .search = app->search,
        .data_dir = app->data,
        .event_max = (size_t)configuration_number(app->c, "source.event_max"),
        .delivery.compress = configuration_bool(app->c, "search.compress"),
        .values = values,
        .dead_letters_max = (size_t)configuration_number(app->c, "dead_letters.max"),
        .dead_letters_old_ms = configuration_number(app->c, "dead_letters.old_after"),
    };
    const bool ok = coordinator_open(&app->coordinator, &opt, err);

    delivery_values_free(values);
    return ok;
}

static bool check_delivery(const struct configuration *c, struct err *err)
{
    struct delivery_values *values = configured_delivery(c);
    struct delivery_settings together;
    const bool ok = delivery_values_settings(values, &together, err);

    delivery_values_free(values);
    return ok;
}

bool app_check(const struct configuration *c, struct err *err)
{
    const char *store = configuration_text(c, "store");
    struct store_address a;

    if (!listen_check(configuration_text(c, "listen"), err) || !check_delivery(c, err) ||
        !search_access_check(c, err))
        return false;
    if (strcmp(store, "sqlite") == 0)
        return true;
    if (!store_address_parse(&a, store, err))
        return false;
    store_address_free(&a);
    return true;
}

/* ---- the whole ---- */

void app_socket_path(struct buf *out, const struct configuration *c)
{
    const char *socket = configuration_text(c, "socket");

    if (socket != NULL)
        buf_append(out, str_from(socket));
    else
        buf_printf(out, "%s/millrace.sock", configuration_text(c, "data"));
}

bool app_open(struct app **out, const struct configuration *c, struct err *err)
{
    struct app *app = mem_alloc(1, sizeof(*app));

    app->c = c;
    if (!open_data(app, err) || !open_store(app, err) || !open_search(app, err) ||
        !open_coordinator(app, err)) {
        app_close(app);
        return false;
    }
    configuration_append_json(c, &app->config_json);
    app_socket_path(&app->socket, c);
    app->api = (struct api){.coordinator = app->coordinator,
                            .version = STR(PACKAGE_VERSION),
                            .config_json = buf_str(&app->config_json)};
    *out = app;
    return true;
}

bool app_start(struct app *app, struct err *err)
{
    struct server_options opt = {.socket = app->socket.ptr,
                                 .listen = configuration_text(app->c, "listen"),
                                 .api = app->api};

    if (!server_start(&app->server, &opt, err))
        return false;
    app->started = true;
    return coordinator_start(app->coordinator, err);
}

bool app_configure(struct app *app, const struct configuration *c, struct err *err)
{
    struct delivery_values *values = configured_delivery(c);
    const bool ok = coordinator_configure(app->coordinator, values, err);

    delivery_values_free(values);
    return ok;
}

int64_t app_stop_ms(const struct app *app)
{
    return coordinator_stop_ms(app->coordinator);
}

void app_stop(struct app *app)
{
    if (app->started)
        coordinator_stop(app->coordinator);
    app->started = false;
    server_stop(app->server);
    app->server = NULL;
}

void app_close(struct app *app)
{
    if (app == NULL)
        return;
    app_stop(app);
    if (app->coordinator != NULL)
        coordinator_close(app->coordinator);
    search_sniff_stop(app->sniff);
    search_free(app->search);
    store_close(app->store);
    file_lock_release(app->lock);
    buf_free(&app->config_json);
    buf_free(&app->socket);
    free(app);
}

const struct api *app_api(const struct app *app)
{
    return &app->api;
}

const char *app_address(const struct app *app)
{
    return server_address(app->server);
}
