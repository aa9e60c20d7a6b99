#include "config.h"

#include "src/format/variable.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/utf8.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <ctype.h>
#include <string.h>

/* ---- texts ---- */

static size_t name_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && (s.ptr[n] == '_' || isalpha((unsigned char)s.ptr[n]) ||
                         (n > 0 && isdigit((unsigned char)s.ptr[n]))))
        n++;
    return n;
}

/* Read NAME} or NAME:-default}.  Returns the length, 0 if s begins otherwise. */
static size_t read_braces(struct str s, struct variable_use *out)
{
    const size_t n = name_length(s);
    const struct str rest = {s.ptr + n, s.len - n};

    if (n == 0 || rest.len == 0)
        return 0;
    out->name = (struct str){s.ptr, n};
    out->preset = (struct str){NULL, 0};
    if (rest.ptr[0] == '}')
        return n + 1;
    if (rest.len < 2 || memcmp(rest.ptr, ":-", 2) != 0)
        return 0;

    const char *end = memchr(rest.ptr + 2, '}', rest.len - 2);

    if (end == NULL)
        return 0;
    out->preset = (struct str){rest.ptr + 2, (size_t)(end - rest.ptr) - 2};
    return (size_t)(end - s.ptr) + 1;
}

bool variable_next(struct str text, size_t from, struct variable_use *out)
{
    for (size_t i = from; i < text.len; i++) {
        const char *dollar = memchr(text.ptr + i, '$', text.len - i);

        if (dollar == NULL)
            return false;
        i = (size_t)(dollar - text.ptr);
        for (size_t n = 1; n <= 2 && i + n < text.len; n++) {
            const struct str braces = {dollar + n + 1, text.len - i - n - 1};
            const size_t len = dollar[n] == '{' ? read_braces(braces, out) : 0;

            out->at = i;
            out->len = n + 1 + len;
            out->escaped = n == 2;
            if (len > 0)
                return true;
            if (dollar[n] != '$')
                break;
        }
    }
    return false;
}

/* ---- the environment ---- */

static struct str find_in_environment(const void *from, struct str name)
{
    for (char *const *e = from; e != NULL && *e != NULL; e++)
        if (strncmp(*e, name.ptr, name.len) == 0 && (*e)[name.len] == '=')
            return str_from(*e + name.len + 1);
    return (struct str){NULL, 0};
}

struct variables variables_of_environment(char *const *environment)
{
    return (struct variables){find_in_environment, environment};
}

/* ---- trees ---- */

struct substitution {
    const struct variables *v;
    struct arena *arena;
    struct problems *problems;
    size_t n_bytes; /* filled in so far */
    bool failed;
};

static void report(struct substitution *f, const struct yaml_node *node, struct str name,
                   const char *what)
{
    problems_add(f->problems, SEVERITY_ERROR, node->place,
                 "`${%" STR_FMT "}`: the variable %" STR_FMT " %s", STR_ARG(name),
                 STR_ARG(name), what);
}

/* The value that stands for a use; false: there is none, which was reported. */
static bool find_value(struct substitution *f, const struct yaml_node *node,
                       const struct variable_use *use, struct str *value)
{
    *value = f->v->find(f->v->from, use->name);
    if (value->len == 0 && use->preset.ptr != NULL)
        *value = use->preset;
    f->n_bytes += value->len;
    if (value->ptr == NULL) {
        report(f, node, use->name, "is not set in the environment");
        problems_fix(f->problems,
                     "set it, or write a default: `${%" STR_FMT ":-...}`; the text itself is "
                     "`$${%" STR_FMT "}`",
                     STR_ARG(use->name), STR_ARG(use->name));
    } else if (!utf8_valid(*value)) {
        report(f, node, use->name, "holds bytes that are not UTF-8");
        problems_fix(f->problems, "set it to a text in UTF-8");
    } else if (f->n_bytes > YAML_TEXT_MAX) {
        report(f, node, use->name, "makes this file larger than 4 MiB");
        problems_fix(f->problems, "set it to a shorter text, or use it less often");
    } else
        return true;
    return false;
}

/* Put the text with its values into *out, and the names of the variables into *names. */
static bool fill_text(struct substitution *f, const struct yaml_node *node, struct buf *out,
                      struct buf *names)
{
    const struct str text = node->text;
    struct variable_use use;
    size_t done = 0;
    bool ok = true;

    for (; variable_next(text, done, &use); done = use.at + use.len) {
        struct str value = {text.ptr + use.at + 1, use.len - 1};

        buf_append(out, (struct str){text.ptr + done, use.at - done});
        if (!use.escaped && !find_value(f, node, &use, &value)) {
            ok = false;
            continue;
        }
        buf_append(out, value);
        if (!use.escaped && value.ptr != use.preset.ptr)
            buf_printf(names, "%s%" STR_FMT, names->len > 0 ? ", " : "", STR_ARG(use.name));
    }
    buf_append(out, (struct str){text.ptr + done, text.len - done});
    return ok;
}

static void fill_scalar(struct substitution *f, struct yaml_node *node)
{
    struct variable_use use;
    struct buf text = {0}, names = {0};

    if (!variable_next(node->text, 0, &use))
        return;
    if (fill_text(f, node, &text, &names)) {
        node->filled = true;
        node->text = arena_copy(f->arena, buf_str(&text));
        node->variables = arena_copy(f->arena, buf_str(&names));
        node->quoted = node->quoted || yaml_scalar_kind(node) == YAML_NULL;
    } else
        f->failed = node->unfilled = true;
    buf_free(&text);
    buf_free(&names);
}

static void fill(struct substitution *f, struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR)
        fill_scalar(f, node);
    for (size_t i = 0; i < node->n; i++)
        fill(f, node->items[i]);
}

bool variables_fill(const struct variables *v, struct arena *a, struct yaml_node *tree,
                    struct problems *problems)
{
    struct substitution f = {.v = v, .arena = a, .problems = problems};

    fill(&f, tree);
    return !f.failed;
}

static void append_escaped(struct buf *out, struct str text)
{
    struct variable_use use;
    size_t done = 0;

    for (; variable_next(text, done, &use); done = use.at + use.len) {
        buf_append(out, (struct str){text.ptr + done, use.at - done});
        buf_append_char(out, '$');
        buf_append(out, (struct str){text.ptr + use.at, use.len});
    }
    buf_append(out, (struct str){text.ptr + done, text.len - done});
}

void variables_escape(struct arena *a, struct yaml_node *tree)
{
    struct variable_use use;
    struct buf text = {0};

    if (tree->kind == YAML_SCALAR && variable_next(tree->text, 0, &use)) {
        append_escaped(&text, tree->text);
        tree->text = arena_copy(a, buf_str(&text));
        buf_free(&text);
    }
    for (size_t i = 0; i < tree->n; i++)
        variables_escape(a, tree->items[i]);
}
