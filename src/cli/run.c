#include "config.h"

#include "src/cli/commands.h"

#include "src/app/app.h"
#include "src/app/service.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/log_text.h"
#include "src/base/mem.h"
#include "src/cli/settings.h"
#include "src/cli/view/render.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"
#include "src/file/file_lock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Checking a large store takes time at the start; the service manager kills a daemon that hangs
 * longer than this.
 */
#define START_USEC "600000000"

/*
 * A person at a terminal reads text.  Anywhere else (a file, a journal) every line is JSON,
 * including the last.
 */
static bool is_logged(void)
{
    return isatty(STDERR_FILENO) != 1;
}

static enum settings_for settings_use(void)
{
    return is_logged() ? SETTINGS_FOR_LOG : SETTINGS_FOR_PEOPLE;
}

static int fail(const struct err *err)
{
    if (!is_logged())
        return command_fail(err);
    log_failure(LOG_ERROR, err, "cannot start");
    return err->kind == ERR_RETRY ? EXIT_BUSY : EXIT_FAILED;
}

static enum log_format log_format_of(const char *wanted)
{
    if (strcmp(wanted, "json") == 0 || (strcmp(wanted, "auto") == 0 && is_logged()))
        return LOG_JSON;
    return render_colours(STDERR_FILENO) ? LOG_COLOURED : LOG_TEXT;
}

static void set_log(const struct configuration *c)
{
    const struct settings *s = configuration_settings(c);
    enum log_level level;

    if (log_level_parse(str_from(s->log_level), &level))
        log_set_level(level);
    log_set_format(log_format_of(s->log_format));
}

/* Apply the configuration again, and log the changed settings that wait for the next start. */
static void reload(const struct invocation *inv, const struct configuration *old,
                   struct app *app)
{
    struct err err = {0};
    struct configuration *c = command_settings(inv, settings_use(), &err);

    if (c == NULL || !app_configure(app, c, &err)) {
        log_failure(LOG_ERROR, &err, "configuration not reloaded; the old one stays in force");
        configuration_free(c);
        return;
    }
    set_log(c);
    for (size_t i = 0; i < n_settings; i++)
        if (settings[i].changes == CHANGES_AT_START && !configuration_is_same(old, c, i))
            log_warn("a changed setting takes effect with the next start",
                     KV("setting", settings[i].name));
    log_info("configuration reloaded");
    configuration_free(c);
}

static void serve(const struct invocation *inv, const struct configuration *c, struct app *app)
{
    struct buf state = {0}, page = {0};

    app_append_page(app, &page);
    log_info("ready", KV("version", PACKAGE_VERSION), KV("page", buf_str(&page)),
             KV("metrics", app_metrics_address(app)), KV("pid", (int)getpid()));
    if (app_lacks_admin(app))
        log_warn("other machines reach the port, so it answers nobody until somebody has the "
                 "role admin; fix: millrace user add NAME --role admin");
    buf_printf(&state, "READY=1\nSTATUS=serving %" STR_FMT, STR_ARG(buf_str(&page)));
    buf_free(&page);
    service_notify(state.ptr);
    buf_free(&state);
    while (service_wait() == SERVICE_RELOAD) {
        service_notify("RELOADING=1");
        reload(inv, c, app);
        service_notify("READY=1");
    }
    log_info("stopping: delivering what is queued first");
    buf_printf(&state,
               "STOPPING=1\nSTATUS=delivering what is queued\n"
               "EXTEND_TIMEOUT_USEC=%lld",
               (long long)(app_stop_ms(app) + 30000) * 1000);
    service_notify(state.ptr);
    buf_free(&state);
    service_stop_at_once_on_signal();
}

/*
 * Another process holds the store for a while: a command without a daemon for a moment, an
 * ending daemon a little longer.  Wait for it.
 */
static bool open_app(struct app **app, const struct configuration *c, struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + FILE_LOCK_WAIT_MS;
    bool said = false;

    while (!app_open(app, c, err)) {
        if (!file_lock_is_taken(err) || clock_mono_ms() >= until_ms)
            return false;
        if (!said) {
            log_info("waiting for the process that uses the data folder", KV("pid", err->code),
                     KV("at_most_ms", FILE_LOCK_WAIT_MS));
            service_notify("STATUS=waiting for the process that uses the data folder");
        }
        said = true;
        if (service_stops_within(FILE_LOCK_POLL_MS))
            return err_set(err, ERR_STOP, "stopped");
        *err = (struct err){0};
    }
    return true;
}

int command_run(const struct invocation *inv)
{
    struct err err = {0};
    struct app *app = NULL;
    struct configuration *c;

    mem_share_heap();
    service_init();
    c = command_settings(inv, settings_use(), &err);
    if (c == NULL)
        return fail(&err);
    set_log(c);

    const char *failpoint = getenv(FAILPOINT_VARIABLE);

    service_notify("STATUS=checking the store\nEXTEND_TIMEOUT_USEC=" START_USEC);

    bool ok = (failpoint == NULL || failpoint_arm(failpoint, &err)) &&
              open_app(&app, c, &err) && app_start(app, &err);

    if (ok) {
        serve(inv, c, app);
        app_stop(app);
        log_info("stopped");
    }

    const bool stopped = app == NULL && err.kind == ERR_STOP; /* while it waited */

    app_close(app);
    configuration_free(c);
    return ok || stopped ? EXIT_DONE : fail(&err);
}
