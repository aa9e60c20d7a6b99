#include "config.h"

#include "src/commands.h"

#include "src/app.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/command_settings.h"
#include "src/configuration.h"
#include "src/service.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A large store is checked at the start; who hangs there is killed after that. */
#define START_USEC "600000000"

/* A person at a terminal reads text; what goes to a file or a journal is JSON to its last line.
 */
static bool is_logged(void)
{
    return isatty(STDERR_FILENO) != 1;
}

static int fail(const struct err *err)
{
    if (!is_logged())
        return command_fail(err);
    log_failure(LOG_ERROR, err, "cannot start");
    return err->kind == ERR_RETRY ? EXIT_BUSY : EXIT_FAILED;
}

static void set_log_level(const struct configuration *c)
{
    enum log_level level;

    if (log_level_parse(str_from(configuration_text(c, "log.level")), &level))
        log_set_level(level);
}

static bool same_texts(const struct configuration *a, const struct configuration *b,
                       const char *name)
{
    size_t n_a, n_b;
    const char *const *texts_a = configuration_list(a, name, &n_a);
    const char *const *texts_b = configuration_list(b, name, &n_b);
    bool same = n_a == n_b;

    for (size_t i = 0; same && i < n_a; i++)
        same = strcmp(texts_a[i], texts_b[i]) == 0;
    return same;
}

static bool takes_effect(const char *setting)
{
    return strcmp(setting, "log.level") == 0 ||
           strncmp(setting, "delivery.", strlen("delivery.")) == 0;
}

/* The log level and delivery take it up; of everything else it is said that it needs a restart. */
static void reload(const struct invocation *inv, const struct configuration *old,
                   struct app *app)
{
    struct err err = {0};
    struct configuration *c = command_settings(inv, is_logged(), &err);

    if (c == NULL || !app_configure(app, c, &err)) {
        log_failure(LOG_ERROR, &err, "configuration not reloaded, the old one stays");
        configuration_free(c);
        return;
    }
    set_log_level(c);
    for (size_t i = 0; i < n_settings; i++)
        if (!takes_effect(settings[i].name) && !same_texts(old, c, settings[i].name))
            log_warn("a changed setting takes effect with the next start",
                     KV("setting", settings[i].name));
    log_info("configuration reloaded");
    configuration_free(c);
}

static void serve(const struct invocation *inv, const struct configuration *c, struct app *app)
{
    struct buf state = {0};

    log_info("ready", KV("version", PACKAGE_VERSION), KV("page", app_address(app)),
             KV("pid", (int)getpid()));
    buf_printf(&state, "READY=1\nSTATUS=serving http://%s/", app_address(app));
    service_notify(state.ptr);
    buf_free(&state);
    while (service_wait() == SERVICE_RELOAD) {
        service_notify("RELOADING=1");
        reload(inv, c, app);
        service_notify("READY=1");
    }
    log_info("stopping: what is under way is delivered first");
    buf_printf(&state,
               "STOPPING=1\nSTATUS=delivering what is under way\n"
               "EXTEND_TIMEOUT_USEC=%lld",
               (long long)(app_stop_ms(app) + 30000) * 1000);
    service_notify(state.ptr);
    buf_free(&state);
    service_stop_at_once_on_signal();
}

int command_run(const struct invocation *inv)
{
    struct err err = {0};
    struct app *app = NULL;
    struct configuration *c;

    mem_share_heap();
    service_init();
    c = command_settings(inv, is_logged(), &err);
    if (c == NULL)
        return fail(&err);
    set_log_level(c);

    const char *failpoint = getenv(FAILPOINT_VARIABLE);

    service_notify("STATUS=checking the store\nEXTEND_TIMEOUT_USEC=" START_USEC);

    bool ok = (failpoint == NULL || failpoint_arm(failpoint, &err)) &&
              app_open(&app, c, &err) && app_start(app, &err);

    if (ok) {
        serve(inv, c, app);
        app_stop(app);
        log_info("stopped");
    }
    app_close(app);
    configuration_free(c);
    return ok ? EXIT_DONE : fail(&err);
}
