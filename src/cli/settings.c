#include "config.h"

#include "src/cli/settings.h"

#include "src/app/app.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/cli/report.h"
#include "src/config/configuration.h"
#include "src/format/problem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const struct problems *p)
{
    struct buf text = {0};

    if (report_is_json() && problems_count(p, SEVERITY_ERROR) > 0) {
        problems_append_json(p, &text);
        report_keep(buf_str(&text));
        buf_free(&text);
        return;
    }

    problems_append_text(p, &text);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, stderr);
    buf_free(&text);
}

static void say_as_log(const struct problems *p)
{
    for (size_t i = 0; i < problems_n(p); i++) {
        const struct problem *problem = problems_get(p, i);
        struct buf at = {0};

        buf_printf(&at, "%s:%u", problem->place.file != NULL ? problem->place.file : "-",
                   problem->place.line);
        LOG_AT(problem->severity == SEVERITY_ERROR ? LOG_ERROR : LOG_WARN, NULL,
               "configuration", KV("problem", problem->message), KV("fix", problem->fix),
               KV("place", buf_str(&at)));
        buf_free(&at);
    }
}

static const char example[] = "A configuration can be as short as this:\n\n"
                              "    data: ./data\n"
                              "    search: {url: http://127.0.0.1:9200}\n\n";

static struct configuration *load(const struct configuration_source *source, bool as_log,
                                  struct err *err)
{
    struct problems *p = problems_new();
    struct configuration *c = configuration_load(source, p);

    if (as_log)
        say_as_log(p);
    else
        say(p);
    if (c == NULL && !as_log && !report_is_json() && source->file != NULL &&
        access(source->file, F_OK) == -1 && errno == ENOENT)
        fputs(example, stderr);
    problems_free(p);
    if (c == NULL)
        err_set(err, ERR_REJECT, "the configuration cannot be used");
    else if (!configuration_lacks_variables(c) && !app_check(c, err)) {
        configuration_free(c);
        return NULL;
    }
    return c;
}

struct configuration *command_settings(const struct invocation *inv, enum settings_for use,
                                       struct err *err)
{
    const char *sets[INVOCATION_OPTIONS_MAX];
    struct configuration_source source = {
        .file = invocation_value(inv, "config"),
        .sets = sets,
        .environment = environ,
        .to_connect = use == SETTINGS_TO_CONNECT,
    };

    for (size_t i = 0; i < inv->n_given; i++)
        if (strcmp(inv->given[i].option->name, "set") == 0)
            sets[source.n_sets++] = inv->given[i].value;
    return load(&source, use == SETTINGS_FOR_LOG, err);
}

struct configuration *command_settings_of_file(const char *path, struct err *err)
{
    return load(&(struct configuration_source){.file = path, .environment = environ}, false,
                err);
}
