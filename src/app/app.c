#include "config.h"

#include "src/app/app.h"

#include "rebalance/access/access.h"
#include "rebalance/access/first_admin.h"
#include "rebalance/admin/settings.h"
#include "rebalance/coordination/zookeeper.h"
#include "rebalance/coordination/zookeeper_name.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/tell/alarms.h"
#include "src/app/alarm_settings.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/config/configuration.h"
#include "src/config/store_address.h"
#include "src/file/data_folder.h"
#include "src/file/file_lock.h"
#include "src/file/node_file.h"
#include "src/file/seal.h"
#include "src/mysql/mysql.h"
#include "src/search/access.h"
#include "src/search/search.h"
#include "src/search/sniff.h"
#include "src/store/store.h"
#include "web/edge/listen.h"
#include "web/edge/prefix.h"
#include "web/server.h"
#include "web/tls/tls_keys.h"
#include "web/words/access.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct app {
    const struct configuration *c;
    const struct settings *settings; /* of c */
    struct file_lock *lock;          /* of the data folder; a SQLite store has its own */
    struct node_id node;
    struct seal *seal;
    struct store *store;
    struct search *search;
    struct search_sniff *sniff; /* or NULL */
    struct coordinator *coordinator;
    bool started; /* the coordinator */
    struct buf socket;
    struct api api;
    struct word_access *words; /* NULL: not started, or not served */
    struct tls_keys *keys;     /* of the port; NULL: the same */
    struct server *server;
};

/* ---- the cluster ---- */

#define BY_ZOOKEEPER "zookeeper://"

static bool is_shared(const struct settings *s)
{
    return strcmp(s->coordination, "embedded") != 0;
}

static bool check_coordination(const struct settings *s, struct err *err)
{
    if (!is_shared(s))
        return true;
    if (strncmp(s->coordination, BY_ZOOKEEPER, strlen(BY_ZOOKEEPER)) != 0)
        return err_set(err, ERR_REJECT,
                       "coordination: expected `embedded` or `zookeeper://host:port,.../path`, "
                       "got `%s`",
                       s->coordination);
    return strcmp(s->store, "sqlite") != 0 ||
           err_set(err, ERR_REJECT,
                   "coordination is zookeeper://, and store is sqlite, which one daemon has "
                   "alone; fix: set store to mysql://user@host/database, the same for all "
                   "daemons of the cluster, or coordination to embedded");
}

static void append_tls(struct buf *out, const struct tls_settings *tls)
{
    const char *const files[] = {tls->ca_file, tls->cert_file, tls->key_file};
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        any = any || files[i] != NULL;
    for (size_t i = 0; any && i < ARRAY_LEN(files); i++)
        buf_printf(out, "%s%s", i > 0 ? "," : "", files[i] == NULL ? "" : files[i]);
}

/* ---- the data folder ---- */

static bool open_data(struct app *app, struct err *err)
{
    return data_folder_open(app->settings->data, err) ||
           (configuration_file(app->c) == NULL &&
            err_wrap(
                err,
                "there is no millrace.yaml here or in /etc/millrace that says where data and "
                "search engine are (\"data: ./data\", \"search: {url: "
                "http://127.0.0.1:9200}\")"));
}

/* ---- the store ---- */

static void in_data(struct buf *path, const struct app *app, const char *name)
{
    buf_printf(path, "%s/%s", app->settings->data, name);
}

static struct mysql_tls store_tls(const struct configuration *c)
{
    const struct tls_settings *tls = &configuration_settings(c)->store_tls;

    return (struct mysql_tls){
        .enabled = configuration_gives(c, "store_tls."),
        .verify = tls->verify,
        .ca_file = tls->ca_file,
        .cert_file = tls->cert_file,
        .key_file = tls->key_file,
    };
}

/* What others say to people of this program's run. */
static void append_who(struct buf *out, const struct app *app)
{
    char host[256] = "";

    (void)!gethostname(host, sizeof(host) - 1);
    buf_printf(out, "%s (%s)",
               app->settings->node_name != NULL ? app->settings->node_name : host,
               PACKAGE_VERSION);
}

static bool open_mysql_store(struct app *app, const char *address, struct err *err)
{
    struct store_address a;
    struct buf lock = {0}, who = {0};
    char *password = NULL;
    bool ok;

    if (!store_address_parse(&a, address, err))
        return false;
    in_data(&lock, app, "millrace.lock");
    ok = file_lock_take(&app->lock, lock.ptr, err) &&
         node_file_load(app->settings->data, &app->node, err) &&
         configuration_secret(app->c, "store_password", &password, err);
    if (ok) {
        struct mysql_options opt = {.host = a.host,
                                    .port = a.port,
                                    .user = a.user,
                                    .password = password,
                                    .database = a.database,
                                    .tls = store_tls(app->c),
                                    .public_key_file = app->settings->store_public_key_file};

        append_who(&who, app);
        ok =
            store_open_mysql(&app->store, &opt,
                             is_shared(app->settings) ? NULL : app->node.place, who.ptr, err) ||
            err_wrap(err, "store %s", address);
    }
    free(password);
    buf_free(&who);
    buf_free(&lock);
    store_address_free(&a);
    return ok;
}

static bool open_store(struct app *app, struct err *err)
{
    const char *address = app->settings->store;
    struct buf path = {0};

    if (strcmp(address, "sqlite") != 0)
        return open_mysql_store(app, address, err);
    app_store_path(&path, app->c);

    const bool ok = store_open_sqlite(&app->store, path.ptr, err) &&
                    node_file_load(app->settings->data, &app->node, err);

    buf_free(&path);
    return ok;
}

static bool check_path(struct app *app, struct err *err)
{
    struct buf servers = {0}, path = {0};
    const bool ok =
        zookeeper_name_address(str_from(app->settings->coordination + strlen(BY_ZOOKEEPER)),
                               &servers, &path, err) &&
        store_keep_path(app->store, buf_str(&path), err);

    buf_free(&servers);
    buf_free(&path);
    return ok;
}

/* The same text under the same key is the same when sealed: the first node has kept it. */
static bool check_key(struct app *app, const char *path, struct err *err)
{
    struct buf ours = {0}, kept = {0};

    seal_text(app->seal, STR("cluster"), STR("the key of all nodes"), &ours);

    bool ok = store_keep_value(app->store, STR("seal"), buf_str(&ours), &kept, err);

    if (ok && !str_equal(buf_str(&ours), buf_str(&kept)))
        ok = err_set(err, ERR_REJECT,
                     "the key in %s is not that of the other nodes, which have sealed the "
                     "passwords of definitions with theirs; fix: copy their file here, and let "
                     "secret_file name it at all nodes",
                     path);
    buf_free(&ours);
    buf_free(&kept);
    return ok;
}

/* Daemons that share a store must share its key too. */
static bool open_seal(struct app *app, struct err *err)
{
    struct buf path = {0};

    app_key_path(&path, app->c);

    const bool ok = seal_open(&app->seal, path.ptr, err) &&
                    (!is_shared(app->settings) ||
                     (check_path(app, err) && check_key(app, path.ptr, err))) &&
                    store_set_seal(app->store, app->seal, err);

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
        if (app->settings->search.sniff)
            app->sniff =
                search_sniff_start(app->search, app->settings->search.sniff_interval_ms);
    }
    search_access_close(&access);
    return ok;
}

/* ---- the coordinator ---- */

static bool open_coordinator_with(struct app *app, const struct alarm_options *alarms,
                                  struct err *err)
{
    const struct settings *s = app->settings;
    struct coordinator_options opt = {
        .store = app->store,
        .search = app->search,
        .data_dir = s->data,
        .node = app->node.id,
        .node_name = s->node_name,
        .address = s->listen,
        .event_max = s->source_event_max,
        .compress = s->search.compress,
        .configuration = app->c,
        .dead_letters_max = s->dead_letters_max,
        .dead_letters_old_ms = s->dead_letters_old_after_ms,
        .retire_after_ms = s->index_retire_after_ms,
        .keep = {s->index_keep_versions, s->index_keep_for_ms},
        .verify_within_ms = s->index_verify_within_ms,
        .expect_ms = {[RUN_CHECK] = s->check_expect_every_ms,
                      [RUN_DELAYED] = s->delayed_expect_every_ms,
                      [RUN_REPLAY] = s->replay_expect_every_ms},
        .verify_every_ms = s->index_verify_every_ms,
        .verify_rate = s->index_verify_rate,
        .verify_builds = s->index_verify_builds,
        .trees = s->index_trees,
        .exchange_every_ms = s->index_exchange_every_ms,
        .alarms = alarms,
        .check_every_ms = s->search.check_every_ms,
    };

    if (!is_shared(s))
        return coordinator_open(&app->coordinator, &opt, err);

    char *auth = NULL;
    struct buf tls = {0};

    append_tls(&tls, &s->coordination_tls);

    bool ok = configuration_secret(app->c, "coordination_auth", &auth, err);

    if (ok) {
        const struct zookeeper_options by = {
            .servers = str_from(s->coordination + strlen(BY_ZOOKEEPER)),
            .auth = str_from(auth == NULL ? "" : auth),
            .tls = buf_str(&tls),
            .timeout_ms = s->coordination_timeout_ms,
        };

        opt.is_shared = true;
        opt.coordination = &by;
        ok = coordinator_open(&app->coordinator, &opt, err);
    }
    free(auth);
    buf_free(&tls);
    return ok;
}

static bool open_coordinator(struct app *app, struct err *err)
{
    struct alarm_options alarms;
    struct alarm_secrets read;
    const bool ok = alarm_settings_read(app->c, &alarms, &read, err) &&
                    open_coordinator_with(app, &alarms, err);

    alarm_secrets_free(&read);
    return ok;
}

/* ---- the port ---- */

static bool has_tls(const struct settings *s)
{
    return s->web_tls.cert_file != NULL || s->web_tls.key_file != NULL;
}

static bool check_port(const struct settings *s, struct err *err)
{
    const bool has_cert = s->web_tls.cert_file != NULL, has_key = s->web_tls.key_file != NULL;

    if (has_cert != has_key)
        return err_set(err, ERR_REJECT, "%s is not set, and TLS needs it; fix: %s",
                       has_cert ? "web_tls.key_file" : "web_tls.cert_file",
                       "set both web_tls.cert_file and web_tls.key_file, or none");
    return listen_check(has_cert ? LISTEN_PAGE_TLS : LISTEN_PAGE, s->listen, err) &&
           prefix_check(s->web_prefix, err);
}

/* Read what the port needs for TLS.  *out is NULL without TLS. */
static bool open_keys(struct tls_keys **out, const struct settings *s, struct err *err)
{
    const struct tls_keys_source from = {.cert_file = s->web_tls.cert_file,
                                         .key_file = s->web_tls.key_file,
                                         .min_version = s->web_tls_min_version};

    *out = NULL;
    return !has_tls(s) || tls_keys_open(out, &from, err);
}

static void warn_of_end(const struct tls_keys *keys)
{
    if (keys != NULL && tls_keys_end_ms(keys) <= clock_wall_ms())
        log_warn("the certificate of the port has ended: browsers refuse it; fix: replace "
                 "web_tls.cert_file and send SIGHUP");
}

/* out NULL: only check. */
static bool open_words(struct word_access **out, const struct configuration *c, struct err *err)
{
    const struct settings *s = configuration_settings(c);
    struct word_access *a = NULL;
    char *token = NULL;
    bool ok;

    if (listen_is_off(s->words_listen))
        return true;
    ok = listen_check(LISTEN_WORDS, s->words_listen, err) &&
         configuration_secret(c, "words.token", &token, err) &&
         word_access_open(&a, token, s->words_allow.items, s->words_allow.n, err);
    free(token);
    if (ok && out != NULL)
        *out = a;
    else
        word_access_free(a);
    return ok;
}

bool app_check(const struct configuration *c, struct err *err)
{
    const struct settings *s = configuration_settings(c);
    struct store_address a;

    if (!check_port(s, err) || !listen_check(LISTEN_METRICS, s->metrics_listen, err) ||
        !open_words(NULL, c, err) || !alarm_settings_check(c, err) ||
        !search_access_check(c, err))
        return false;
    if (!check_coordination(s, err))
        return false;
    if (strcmp(s->store, "sqlite") == 0)
        return true;
    if (!store_address_parse(&a, s->store, err))
        return false;
    store_address_free(&a);
    return true;
}

/* ---- the whole ---- */

void app_store_path(struct buf *out, const struct configuration *c)
{
    buf_printf(out, "%s/millrace.db", configuration_settings(c)->data);
}

void app_key_path(struct buf *out, const struct configuration *c)
{
    const struct settings *s = configuration_settings(c);

    if (s->secret_file != NULL)
        buf_append(out, str_from(s->secret_file));
    else
        buf_printf(out, "%s/secret.key", s->data);
}

void app_socket_path(struct buf *out, const struct configuration *c)
{
    const struct settings *s = configuration_settings(c);

    if (s->socket != NULL)
        buf_append(out, str_from(s->socket));
    else
        buf_printf(out, "%s/millrace.sock", s->data);
}

bool app_open(struct app **out, const struct configuration *c, struct err *err)
{
    struct app *app = mem_alloc(1, sizeof(*app));

    app->c = c;
    app->settings = configuration_settings(c);
    if (!open_data(app, err) || !open_store(app, err) || !open_seal(app, err) ||
        !open_search(app, err) || !open_coordinator(app, err)) {
        app_close(app);
        return false;
    }
    app_socket_path(&app->socket, c);
    app->api = (struct api){
        .coordinator = app->coordinator,
        .version = STR(PACKAGE_VERSION),
        .prefix = str_from(app->settings->web_prefix != NULL ? app->settings->web_prefix : "")};
    *out = app;
    return true;
}

/* What this program still did would be wrong, and others wait for its work. */
static void end_at_once(const struct err *why)
{
    log_failure(LOG_ERROR, why, "the program ends at once");
    _exit(EXIT_FAILURE);
}

void app_append_page(const struct app *app, struct buf *out)
{
    const char *address = server_address(app->server);

    if (address[0] != '\0')
        buf_printf(out, "%s://%s%" STR_FMT "/", app->keys != NULL ? "https" : "http", address,
                   STR_ARG(app->api.prefix));
}

/* Whether the port takes the first admin: one that other machines reach refuses everybody. */
static bool takes_first_admin(const struct settings *s)
{
    return !listen_is_off(s->listen) && listen_is_loopback(s->listen) && !s->web_read_only;
}

static void open_first_admin(const struct app *app)
{
    struct buf page = {0};

    app_append_page(app, &page);
    coordinator_open_first_admin(app->coordinator,
                                 takes_first_admin(app->settings) ? page.ptr : NULL);
    buf_free(&page);
}

bool app_start(struct app *app, struct err *err)
{
    struct server_options opt = {
        .socket = app->socket.ptr,
        .listen = app->settings->listen,
        .metrics_listen = app->settings->metrics_listen,
        .hosts = app->settings->web_hosts.items,
        .n_hosts = app->settings->web_hosts.n,
        .words_listen = app->settings->words_listen,
        .is_read_only = app->settings->web_read_only,
        .api = app->api,
    };

    if (!open_words(&app->words, app->c, err) || !open_keys(&app->keys, app->settings, err))
        return false;
    warn_of_end(app->keys);
    opt.api.words = app->words;
    opt.keys = app->keys;
    store_watch_refusal(app->store, end_at_once);
    if (!server_start(&app->server, &opt, err))
        return false;
    app->started = true;
    open_first_admin(app); /* before it is ready */
    return coordinator_start(app->coordinator, err);
}

/* Takes keys.  Whether the port speaks TLS stays as it was at the start. */
static void change_keys(struct app *app, struct tls_keys *keys)
{
    if ((keys == NULL) != (app->keys == NULL)) {
        log_warn("a changed setting takes effect with the next start",
                 KV("setting", "web_tls.cert_file"));
        tls_keys_unref(keys);
    } else if (keys != NULL) {
        if (!listen_is_off(app->settings->listen))
            server_use_keys(app->server, keys);
        warn_of_end(keys);
        tls_keys_unref(app->keys);
        app->keys = keys;
    }
}

bool app_configure(struct app *app, const struct configuration *c, struct err *err)
{
    struct tls_keys *keys = NULL;

    if (!open_keys(&keys, configuration_settings(c), err))
        return false;
    if (!coordinator_configure(app->coordinator, c, err)) {
        tls_keys_unref(keys);
        return false;
    }
    change_keys(app, keys);
    return true;
}

bool app_lacks_admin(const struct app *app)
{
    return !listen_is_loopback(app->settings->listen) &&
           !coordinator_has_admin(app->coordinator);
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
    seal_close(app->seal);
    file_lock_release(app->lock);
    word_access_free(app->words);
    tls_keys_unref(app->keys);
    buf_free(&app->socket);
    free(app);
}

const struct api *app_api(const struct app *app)
{
    return &app->api;
}

const char *app_metrics_address(const struct app *app)
{
    return server_metrics_address(app->server);
}
