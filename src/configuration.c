#include "config.h"

#include "src/configuration.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/nearest.h"
#include "src/json.h"
#include "src/yaml.h"
#include "src/yaml_read.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX   (1 << 20)
#define SECRET_MAX 4096
#define ENV_PREFIX "MILLRACE_"
#define ORIGIN_MAX 320

struct value {
    const char **texts; /* n of them, NULL-terminated */
    size_t n;
    int64_t number;
    char origin[ORIGIN_MAX];
};

struct configuration {
    struct arena *arena;
    struct value *values; /* by number of the setting */
    char *file;           /* NULL: none */
    struct str folder;    /* of file */
    bool exposed;         /* others may read the file */
};

static size_t find(struct str name)
{
    for (size_t i = 0; i < n_settings; i++)
        if (str_equal(str_from(settings[i].name), name))
            return i;
    return n_settings;
}

static const struct value *get(const struct configuration *c, const char *name)
{
    const size_t i = find(str_from(name));

    assert(i < n_settings);
    return &c->values[i];
}

/* ---- values from texts ---- */

struct unit_of {
    const char *suffix;
    int64_t factor;
};
static const struct unit_of sizes[] = {
    {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
static const struct unit_of durations[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
static const struct unit_of counts[] = {{"", 1}};

static bool parse_number(struct str text, const struct unit_of *units, size_t n_units,
                         int64_t *out)
{
    size_t i = 0;
    int64_t n = 0;

    for (; i < text.len && isdigit((unsigned char)text.ptr[i]); i++) {
        if (n > INT64_MAX / 10 - 10)
            return false;
        n = n * 10 + (text.ptr[i] - '0');
    }
    if (i == 0)
        return false;
    for (size_t u = 0; u < n_units; u++)
        if (str_equal((struct str){text.ptr + i, text.len - i}, str_from(units[u].suffix))) {
            if (n > INT64_MAX / units[u].factor)
                return false;
            *out = n * units[u].factor;
            return true;
        }
    return false;
}

static bool is_choice(const char *choices, struct str text)
{
    for (const char *at = choices; *at != '\0';) {
        const size_t n = strcspn(at, " ");

        if (str_equal((struct str){at, n}, text))
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

/* NULL: fine; else what was expected. */
static const char *parse_value(const struct setting *s, struct str text, int64_t *number)
{
    switch (s->type) {
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_LIST: return NULL;
    case SETTING_BOOL:
        *number = str_equal(text, STR("true"));
        return *number || str_equal(text, STR("false")) ? NULL : "true or false";
    case SETTING_COUNT:
        return parse_number(text, counts, ARRAY_LEN(counts), number) ? NULL : "a whole number";
    case SETTING_SIZE:
        return parse_number(text, sizes, ARRAY_LEN(sizes), number)
                   ? NULL
                   : "a size like 65536, 64KiB or 8MiB";
    case SETTING_DURATION:
        return parse_number(text, durations, ARRAY_LEN(durations), number)
                   ? NULL
                   : "a time like 500ms, 5s, 2m or 1h";
    case SETTING_CHOICE: return is_choice(s->choices, text) ? NULL : s->choices;
    }
    return NULL;
}

static struct str absolute(const struct configuration *c, const struct setting *s,
                           struct str text)
{
    struct buf b = {0};

    if (s->type != SETTING_PATH || text.len == 0 || text.ptr[0] == '/' || c->folder.len == 0)
        return arena_copy(c->arena, text);
    buf_append(&b, c->folder);
    buf_append_char(&b, '/');
    buf_append(&b, text);

    const struct str path = arena_copy(c->arena, buf_str(&b));

    buf_free(&b);
    return path;
}

static const char *cstr(const struct configuration *c, struct str s)
{
    char *copy = arena_alloc(c->arena, s.len + 1, 1);

    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

/* Where a value stands, for messages and `--origin`. */
struct origin {
    struct place place;
    const char *text;
};

/* http://user:password@host: it would be shown, logged and sent with every message. */
static bool holds_password(struct str text)
{
    const char *start = text.len == 0 ? NULL : memmem(text.ptr, text.len, "://", 3);

    if (start == NULL)
        return false;
    start += 3;

    const size_t left = (size_t)(text.ptr + text.len - start);
    const char *at = memchr(start, '@', left), *slash = memchr(start, '/', left);

    return at != NULL && (slash == NULL || at < slash) &&
           memchr(start, ':', (size_t)(at - start)) != NULL;
}

static bool refuse_password(const struct setting *s, const struct origin *from,
                            struct problems *problems)
{
    problems_add(problems, SEVERITY_ERROR, from->place,
                 "%s: a password does not belong into an address", s->name);
    problems_fix(problems, "%s",
                 strncmp(s->name, "search", 6) == 0
                     ? "search.user, and the password in a file that search.password_file names"
                     : "the password in a file that store_password_file names");
    return false;
}

static bool set_value(struct configuration *c, size_t i, const struct str *texts, size_t n,
                      const struct origin *from, struct problems *problems)
{
    const struct setting *s = &settings[i];
    struct value v = {.texts = arena_alloc(c->arena, n + 1, sizeof(char *)), .n = n};

    for (size_t k = 0; k < n; k++) {
        const char *expected = parse_value(s, texts[k], &v.number);

        if (holds_password(texts[k]))
            return refuse_password(s, from, problems);
        if (expected != NULL) {
            problems_add(problems, SEVERITY_ERROR, from->place,
                         "%s: expected %s, got `%" STR_FMT "`", s->name, expected,
                         STR_ARG(texts[k]));
            return false;
        }
        v.texts[k] = cstr(c, absolute(c, s, texts[k]));
    }
    if (s->max != 0 && (v.number < s->min || v.number > s->max)) {
        problems_add(problems, SEVERITY_ERROR, from->place,
                     "%s: %s is out of range, %lld to %lld", s->name, v.texts[0],
                     (long long)s->min, (long long)s->max);
        return false;
    }
    if (s->later != NULL &&
        (s->preset == NULL || n != 1 || !str_equal(texts[0], str_from(s->preset)))) {
        problems_add(problems, SEVERITY_ERROR, from->place, "%s is not available yet: %s",
                     s->name, s->later);
        return false;
    }
    snprintf(v.origin, sizeof(v.origin), "%s", from->text);
    c->values[i] = v;
    return true;
}

/* ---- the file ---- */

static void report_unknown(struct problems *problems, enum severity severity,
                           struct place place, struct str name)
{
    struct nearest near = nearest_to(name);

    for (size_t i = 0; i < n_settings; i++)
        nearest_offer(&near, str_from(settings[i].name));
    problems_add(problems, severity, place, "unknown setting `%" STR_FMT "`", STR_ARG(name));
    if (near.best.len > 0)
        problems_fix(problems, "did you mean `%" STR_FMT "`?", STR_ARG(near.best));
}

static bool is_section(struct str name)
{
    for (size_t i = 0; i < n_settings; i++)
        if (strlen(settings[i].name) > name.len && settings[i].name[name.len] == '.' &&
            memcmp(settings[i].name, name.ptr, name.len) == 0)
            return true;
    return false;
}

static void take_node(struct configuration *c, size_t i, const struct yaml_node *node,
                      struct problems *problems)
{
    char where[ORIGIN_MAX];
    const struct origin from = {.place = node->place, .text = where};
    struct str texts[64];
    size_t n = 0;

    snprintf(where, sizeof(where), "%s:%u", node->place.file, node->place.line);
    if (node->kind == YAML_SCALAR && yaml_scalar_kind(node) != YAML_NULL) {
        texts[n++] = node->text;
    } else if (node->kind == YAML_LIST && settings[i].type == SETTING_LIST && node->n > 0 &&
               node->n <= ARRAY_LEN(texts)) {
        for (; n < node->n && node->items[n]->kind == YAML_SCALAR; n++)
            texts[n] = node->items[n]->text;
        if (n < node->n)
            n = 0;
    }
    if (n == 0) {
        problems_add(problems, SEVERITY_ERROR, node->place, "%s: expected %s, got %s",
                     settings[i].name,
                     settings[i].type == SETTING_LIST ? "a text or a list of at most 64 texts"
                                                      : "one value",
                     yaml_kind_name(node));
        return;
    }
    if (settings[i].secret && c->exposed)
        problems_add(problems, SEVERITY_ERROR, node->place,
                     "%s is written here and others may read this file", settings[i].name),
            problems_fix(problems, "chmod 600 %s, or better %s_file", c->file,
                         settings[i].name);
    (void)set_value(c, i, texts, n, &from, problems);
}

static void take_map(struct configuration *c, const char *prefix, const struct yaml_node *map,
                     struct problems *problems)
{
    for (size_t k = 0; k < map->n; k++) {
        struct buf name = {0};

        buf_printf(&name, "%s%" STR_FMT, prefix, STR_ARG(map->names[k]->text));

        const size_t i = find(buf_str(&name));

        if (i < n_settings) {
            take_node(c, i, map->items[k], problems);
        } else if (is_section(buf_str(&name)) && map->items[k]->kind == YAML_MAP) {
            buf_append_char(&name, '.');
            take_map(c, name.ptr, map->items[k], problems);
        } else {
            report_unknown(problems, SEVERITY_ERROR, map->names[k]->place, buf_str(&name));
        }
        buf_free(&name);
    }
}

static bool read_whole(const char *path, struct buf *out, bool *exposed)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char part[4096];
    ssize_t n = -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *exposed = (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
        while ((n = read(fd, part, sizeof(part))) > 0 && out->len < FILE_MAX)
            buf_append(out, (struct str){part, (size_t)n});
    } else {
        errno = EISDIR;
    }
    close(fd);
    return n >= 0;
}

static void set_file(struct configuration *c, const char *path)
{
    const char *slash = strrchr(path, '/');

    c->file = mem_copy(path);
    if (slash != NULL)
        c->folder = arena_copy(c->arena,
                               (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

static void take_file(struct configuration *c, const char *path, bool required,
                      struct problems *problems)
{
    struct buf text = {0};
    const struct place nowhere = {.file = path};

    if (!read_whole(path, &text, &c->exposed)) {
        if (required || errno != ENOENT) {
            problems_add(problems, SEVERITY_ERROR, nowhere, "cannot be read: %s",
                         strerror(errno));
            problems_fix(problems, "write it, for a start: `search: {url: "
                                   "http://127.0.0.1:9200}`, or name another with --config");
        }
        buf_free(&text);
        return;
    }
    set_file(c, path);
    problems_add_source(problems, path, buf_str(&text));

    const struct yaml_node *root = yaml_read(c->arena, c->file, buf_str(&text), problems);

    if (root != NULL && root->kind == YAML_MAP)
        take_map(c, "", root, problems);
    else if (root != NULL)
        problems_add(problems, SEVERITY_ERROR, root->place, "expected settings, `name: value`");
    buf_free(&text);
}

/* ---- environment and flags ---- */

/* MILLRACE_SEARCH__CA_FILE -> search.ca_file */
static void take_environment(struct configuration *c, char **environment,
                             struct problems *problems)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *equals = strchr(*environment, '=');
        struct buf name = {0};

        if (equals == NULL || strncmp(*environment, ENV_PREFIX, strlen(ENV_PREFIX)) != 0)
            continue;
        for (const char *at = *environment + strlen(ENV_PREFIX); at < equals; at++) {
            const bool nested = at[0] == '_' && at[1] == '_';

            buf_append_char(&name, nested ? '.' : (char)tolower((unsigned char)*at));
            at += nested;
        }

        const struct str variable =
            arena_copy(c->arena, (struct str){*environment, (size_t)(equals - *environment)});
        const struct origin from = {.place = {.file = cstr(c, variable)},
                                    .text = cstr(c, variable)};
        const struct str text = str_from(equals + 1);
        const size_t i = find(buf_str(&name));

        if (i < n_settings)
            (void)set_value(c, i, &text, 1, &from, problems);
        else
            /* Not ours, perhaps: container platforms set MILLRACE_PORT and the like. */
            report_unknown(problems, SEVERITY_WARNING, from.place, buf_str(&name));
        buf_free(&name);
    }
}

static void take_sets(struct configuration *c, const char *const *sets, size_t n,
                      struct problems *problems)
{
    const struct origin from = {.place = {.file = "--set"}, .text = "--set"};

    for (size_t k = 0; k < n; k++) {
        const char *equals = strchr(sets[k], '=');
        const struct str name = {sets[k],
                                 equals == NULL ? strlen(sets[k]) : (size_t)(equals - sets[k])};
        const size_t i = find(name);

        if (i == n_settings) {
            report_unknown(problems, SEVERITY_ERROR, from.place, name);
        } else if (equals == NULL) {
            problems_add(problems, SEVERITY_ERROR, from.place,
                         "`%s` has no value: --set name=value", sets[k]);
        } else if (settings[i].secret) {
            problems_add(problems, SEVERITY_ERROR, from.place,
                         "%s is a secret and not for a command line; use %s_file",
                         settings[i].name, settings[i].name);
        } else {
            const struct str text = str_from(equals + 1);

            (void)set_value(c, i, &text, 1, &from, problems);
        }
    }
}

/* ---- life ---- */

static void take_defaults(struct configuration *c, struct problems *problems)
{
    const struct origin from = {.place = {.file = "default"}, .text = "default"};

    for (size_t i = 0; i < n_settings; i++)
        if (settings[i].preset != NULL) {
            const struct str text = str_from(settings[i].preset);

            (void)set_value(c, i, &text, 1, &from, problems);
        }
}

static void check_secret_files(const struct configuration *c, struct problems *problems)
{
    struct stat st;

    for (size_t i = 0; i < n_settings; i++) {
        const struct value *v = &c->values[i];

        if (!settings[i].secret_file || v->n == 0 || stat(v->texts[0], &st) != 0 ||
            (st.st_mode & S_IROTH) == 0)
            continue;
        problems_add(problems, SEVERITY_WARNING, (struct place){.file = v->origin},
                     "%s: everyone may read %s", settings[i].name, v->texts[0]);
        problems_fix(problems, "chmod 600 %s", v->texts[0]);
    }
}

static void check_batches(const struct configuration *c, struct problems *problems)
{
    const struct value *max = get(c, "delivery.batch_max");
    const int64_t min = configuration_number(c, "delivery.batch_min");
    int64_t n;

    if (parse_number(str_from(max->texts[0]), counts, ARRAY_LEN(counts), &n) && n < min)
        problems_add(problems, SEVERITY_ERROR, (struct place){.file = max->origin},
                     "delivery.batch_max, %s, is less than delivery.batch_min, %lld",
                     max->texts[0], (long long)min);
}

struct configuration *configuration_load(const struct configuration_source *source,
                                         struct problems *problems)
{
    struct configuration *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    c->values = mem_alloc(n_settings, sizeof(*c->values));
    take_defaults(c, problems);
    if (source->file != NULL)
        take_file(c, source->file, true, problems);
    else
        take_file(c, "millrace.yaml", false, problems);
    if (source->file == NULL && c->file == NULL)
        take_file(c, "/etc/millrace/millrace.yaml", false, problems);
    take_environment(c, source->environment, problems);
    take_sets(c, source->sets, source->n_sets, problems);
    check_secret_files(c, problems);
    check_batches(c, problems);
    if (problems_count(problems, SEVERITY_ERROR) == 0)
        return c;
    configuration_free(c);
    return NULL;
}

void configuration_free(struct configuration *c)
{
    if (c == NULL)
        return;
    arena_free(c->arena);
    free(c->values);
    free(c->file);
    free(c);
}

const char *configuration_file(const struct configuration *c)
{
    return c->file;
}

const char *configuration_text(const struct configuration *c, const char *name)
{
    const struct value *v = get(c, name);

    return v->n == 0 ? NULL : v->texts[0];
}

int64_t configuration_number(const struct configuration *c, const char *name)
{
    return get(c, name)->number;
}

bool configuration_bool(const struct configuration *c, const char *name)
{
    return get(c, name)->number != 0;
}

const char *const *configuration_list(const struct configuration *c, const char *name,
                                      size_t *n)
{
    const struct value *v = get(c, name);

    *n = v->n;
    return v->texts;
}

/* ---- secrets ---- */

static bool read_secret(const char *path, char **out, struct err *err)
{
    struct buf text = {0};
    bool exposed;

    if (!read_whole(path, &text, &exposed)) {
        buf_free(&text);
        return err_set_code(err, ERR_REJECT, "errno", errno, "password file %s: %s", path,
                            strerror(errno));
    }
    if (text.len > SECRET_MAX) {
        buf_free(&text);
        return err_set(err, ERR_REJECT, "password file %s is longer than %d bytes", path,
                       SECRET_MAX);
    }
    text.ptr = text.ptr == NULL ? mem_copy("") : text.ptr;
    text.ptr[strcspn(text.ptr, "\r\n")] = '\0';
    *out = text.ptr;
    return true;
}

/* The value of a setting that need not be in the table. */
static const char *text_if_known(const struct configuration *c, const char *name,
                                 const char *suffix)
{
    struct buf full = {0};
    const char *text = NULL;

    buf_printf(&full, "%s%s", name, suffix);

    const size_t i = find(buf_str(&full));

    if (i < n_settings && c->values[i].n > 0)
        text = c->values[i].texts[0];
    buf_free(&full);
    return text;
}

bool configuration_secret(const struct configuration *c, const char *name, char **out,
                          struct err *err)
{
    const char *file = text_if_known(c, name, "_file"),
               *variable = text_if_known(c, name, "_env");
    const char *literal = text_if_known(c, name, "");

    *out = NULL;
    if (file != NULL)
        return read_secret(file, out, err);
    if (variable != NULL && getenv(variable) == NULL)
        return err_set(err, ERR_REJECT, "%s_env: the environment variable %s is not set", name,
                       variable);
    if (variable != NULL)
        *out = mem_copy(getenv(variable));
    else if (literal != NULL)
        *out = mem_copy(literal);
    return true;
}

/* ---- showing ---- */

static void append_shown(struct buf *out, const struct setting *s, const struct value *v)
{
    if (v->n > 1)
        buf_append_char(out, '[');
    for (size_t k = 0; k < v->n; k++) {
        if (k > 0)
            buf_append(out, STR(", "));
        buf_append_json(out, s->secret ? STR("***") : str_from(v->texts[k]));
    }
    if (v->n > 1)
        buf_append_char(out, ']');
    if (v->n == 0)
        buf_append(out, STR("null"));
}

/* The longest section (what is before the last dot) stays open. */
void configuration_append_yaml(const struct configuration *c, bool origin, struct buf *out)
{
    struct str section = {"", 0};

    for (size_t i = 0; i < n_settings; i++) {
        const char *name = settings[i].name, *dot = strchr(name, '.');
        const struct str mine = {name, dot == NULL ? 0 : (size_t)(dot - name)};

        if (mine.len > 0 && !str_equal(mine, section))
            buf_printf(out, "%" STR_FMT ":\n", STR_ARG(mine));
        section = mine;
        buf_printf(out, "%s%s: ", mine.len > 0 ? "  " : "", mine.len > 0 ? dot + 1 : name);
        append_shown(out, &settings[i], &c->values[i]);
        if (origin)
            buf_printf(out, "  # %s", c->values[i].n == 0 ? "not set" : c->values[i].origin);
        buf_append_char(out, '\n');
    }
}

void configuration_append_json(const struct configuration *c, struct buf *out)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/config/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    for (size_t i = 0; i < n_settings; i++) {
        struct buf shown = {0};

        append_shown(&shown, &settings[i], &c->values[i]);
        json_open_object(&w);
        json_put_cstr(&w, STR("name"), settings[i].name);
        json_put_raw(&w, STR("value"), buf_str(&shown));
        json_put_cstr(&w, STR("origin"), c->values[i].n == 0 ? "not set" : c->values[i].origin);
        json_close_object(&w);
        buf_free(&shown);
    }
    json_close_array(&w);
    json_close_object(&w);
}
