#include "config.h"

#include "src/format/yaml_read.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *file;
    struct str text;
    struct problems *problems;
    struct fy_parser *parser;
    struct fy_diag *diag;
    bool failed;
};

static struct place place_at(const struct reader *r, int line, int column)
{
    return (struct place){r->file, line < 0 ? 1 : (unsigned)line + 1,
                          column < 0 ? 1 : (unsigned)column + 1};
}

static void fail(struct reader *r, struct place place, const char *message)
{
    r->failed = true;
    problems_add(r->problems, SEVERITY_ERROR, place, "%s", message);
}

/* Returns the place of a byte of the text. */
static struct place place_of_byte(const struct reader *r, size_t at)
{
    struct place p = {r->file, 1, 1};

    for (size_t i = 0; i < at; i++)
        if (r->text.ptr[i] == '\n') {
            p.line++;
            p.column = 1;
        } else if (((unsigned char)r->text.ptr[i] & 0xc0) != 0x80) {
            p.column++;
        }
    return p;
}

/* Rejects bytes that YAML forbids and that the library silently skips or stops at. */
static void check_bytes(struct reader *r)
{
    struct str rest = r->text;

    while (rest.len > 0) {
        unsigned char c = (unsigned char)rest.ptr[0];
        size_t len = utf8_char_len(rest);
        size_t at = (size_t)(rest.ptr - r->text.ptr);

        if (len == 0) {
            fail(r, place_of_byte(r, at), "this is not UTF-8");
            problems_fix(r->problems, "save the file as UTF-8");
            return;
        }
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
            fail(r, place_of_byte(r, at), "a control character");
            return;
        }
        rest.ptr += len;
        rest.len -= len;
    }
}

/* Finds the last tab in the indentation of the given line or the one before it. */
static bool find_tab(const struct reader *r, unsigned line, struct place *tab)
{
    unsigned now = 1;
    bool found = false, indenting = true;
    unsigned column = 1;

    for (size_t i = 0; i < r->text.len && now <= line; i++) {
        char c = r->text.ptr[i];

        if (c == '\n') {
            now++;
            column = 1;
            indenting = true;
            continue;
        }
        if (indenting && c == '\t' && now + 1 >= line) {
            *tab = (struct place){r->file, now, column};
            found = true;
        }
        indenting = indenting && (c == ' ' || c == '\t');
        column++;
    }
    return found;
}

/* Reports the library's first error: it caused the others. */
static void report_syntax(struct reader *r)
{
    void *previous = NULL;
    struct fy_diag_error *e = fy_diag_errors_iterate(r->diag, &previous);
    struct place place = {r->file, 1, 1}, tab;

    while (e != NULL && e->type != FYET_ERROR)
        e = fy_diag_errors_iterate(r->diag, &previous);
    if (e != NULL && e->line > 0)
        place = place_at(r, e->line - 1, e->column - 1);
    if (find_tab(r, place.line, &tab)) {
        fail(r, tab, "a tab in the indentation: YAML wants spaces");
        problems_fix(r->problems, "replace the tab by spaces");
        return;
    }
    fail(r, place, e != NULL && e->msg != NULL ? e->msg : "this is not YAML");
}

/* Returns the next event, or NULL after reporting an error. */
static struct fy_event *next_event(struct reader *r)
{
    if (r->failed)
        return NULL;

    struct fy_event *e = fy_parser_parse(r->parser);

    if (e == NULL)
        report_syntax(r);
    return e;
}

static struct place place_of_token(const struct reader *r, struct fy_token *token,
                                   struct place otherwise)
{
    const struct fy_mark *m = token == NULL ? NULL : fy_token_start_mark(token);

    return m == NULL ? otherwise : place_at(r, m->line, m->column);
}

/* Folds the blanks and line ends at s[i]: appends what counts to out, and returns the index
 * behind them. */
static size_t fold(struct str s, size_t i, struct buf *out)
{
    size_t n_lines = 0;

    while (out->len > 0 && (out->ptr[out->len - 1] == ' ' || out->ptr[out->len - 1] == '\t'))
        out->len--;
    for (; i < s.len && strchr(" \t\r\n", s.ptr[i]) != NULL; i++)
        n_lines += s.ptr[i] == '\n' ? 1 : 0;
    if (n_lines == 1)
        buf_append_char(out, ' ');
    for (; n_lines > 1; n_lines--)
        buf_append_char(out, '\n');
    return i;
}

/*
 * Decodes the text in single quotes at s[i]. We do this ourselves: libfyaml 0.7 drops what
 * follows two doubled quotes in a row.
 */
static struct str single_quoted(struct arena *a, struct str s, size_t i)
{
    struct buf out = {0};
    struct str text;

    buf_append(&out, STR(""));
    while (i < s.len && (s.ptr[i] != '\'' || (i + 1 < s.len && s.ptr[i + 1] == '\'')))
        if (s.ptr[i] == '\n' || s.ptr[i] == '\r') {
            i = fold(s, i, &out);
        } else {
            buf_append_char(&out, s.ptr[i]);
            i += s.ptr[i] == '\'' ? 2 : 1;
        }
    text = arena_copy(a, buf_str(&out));
    buf_free(&out);
    return text;
}

/*
 * Returns true if a line of the double-quoted text at s[i] ends in a backslash, which the
 * library misreads when an empty line follows.
 */
static bool has_escaped_line_end(struct str s, size_t i)
{
    while (i < s.len && s.ptr[i] != '"') {
        bool escape = s.ptr[i] == '\\' && i + 1 < s.len;

        if (escape && (s.ptr[i + 1] == '\n' || s.ptr[i + 1] == '\r'))
            return true;
        i += escape ? 2 : 1;
    }
    return false;
}

static struct str text_of_token(struct reader *r, struct fy_token *token, struct place place)
{
    enum fy_scalar_style style = fy_token_scalar_style(token);
    const struct fy_mark *mark = fy_token_start_mark(token);
    size_t at = mark == NULL ? r->text.len : mark->input_pos;
    size_t len = 0;
    const char *text;

    if (style == FYSS_SINGLE_QUOTED)
        return single_quoted(r->arena, r->text, at);
    if (style == FYSS_DOUBLE_QUOTED && has_escaped_line_end(r->text, at))
        fail(r, place, "a quoted line may not end in a backslash: use `>-`");
    text = fy_token_get_text(token, &len);
    return arena_copy(r->arena, (struct str){text, text == NULL ? 0 : len});
}

static struct yaml_node *read_scalar(struct reader *r, struct fy_event *e,
                                     struct place otherwise)
{
    struct yaml_node *n = yaml_new(r->arena, YAML_SCALAR);
    struct fy_token *token = e->scalar.value;
    enum fy_scalar_style style = token == NULL ? FYSS_PLAIN : fy_token_scalar_style(token);

    n->quoted = style != FYSS_PLAIN;
    n->place = place_of_token(r, token, otherwise);
    /* The library starts a quoted text behind its quote. */
    if (n->place.column > 1 && (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED))
        n->place.column--;
    n->text = token == NULL ? arena_copy(r->arena, STR("")) : text_of_token(r, token, n->place);
    return n;
}

static struct yaml_node *read_node(struct reader *r, struct fy_event *e, struct place otherwise,
                                   unsigned depth);

static struct yaml_node *read_list(struct reader *r, struct place place, unsigned depth)
{
    struct yaml_node *list = yaml_new(r->arena, YAML_LIST);

    list->place = place;
    for (;;) {
        struct fy_event *e = next_event(r);

        if (e == NULL)
            return NULL;
        if (e->type == FYET_SEQUENCE_END) {
            fy_parser_event_free(r->parser, e);
            return list;
        }

        struct yaml_node *item = read_node(r, e, place, depth);

        if (item == NULL)
            return NULL;
        yaml_push(r->arena, list, item);
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct yaml_node *x = *(struct yaml_node *const *)a,
                           *y = *(struct yaml_node *const *)b;
    int order = str_order(x->text, y->text);

    if (order == 0)
        order = (x->place.line > y->place.line) - (x->place.line < y->place.line);
    if (order == 0)
        order = (x->place.column > y->place.column) - (x->place.column < y->place.column);
    return order;
}

static void refuse_duplicates(struct reader *r, const struct yaml_node *map)
{
    if (map->n < 2)
        return;

    struct yaml_node **sorted = mem_alloc(map->n, sizeof(struct yaml_node *));

    memcpy(sorted, map->names, map->n * sizeof(struct yaml_node *));
    qsort(sorted, map->n, sizeof(struct yaml_node *), compare_names);
    for (size_t i = 1; i < map->n; i++)
        if (str_equal(sorted[i]->text, sorted[i - 1]->text)) {
            problems_add(r->problems, SEVERITY_ERROR, sorted[i]->place,
                         "`%" STR_FMT "` is given twice, first in line %u",
                         STR_ARG(sorted[i]->text), sorted[i - 1]->place.line);
            r->failed = true;
        }
    free(sorted);
}

static struct yaml_node *read_map(struct reader *r, struct place place, unsigned depth)
{
    struct yaml_node *map = yaml_new(r->arena, YAML_MAP);

    map->place = place;
    for (;;) {
        struct fy_event *e = next_event(r);

        if (e == NULL)
            return NULL;
        if (e->type == FYET_MAPPING_END) {
            fy_parser_event_free(r->parser, e);
            refuse_duplicates(r, map);
            return r->failed ? NULL : map;
        }

        struct yaml_node *name = read_node(r, e, place, depth);

        if (name == NULL)
            return NULL;
        if (name->kind != YAML_SCALAR) {
            fail(r, name->place, "a name must be a text");
            return NULL;
        }
        if ((e = next_event(r)) == NULL)
            return NULL;

        struct yaml_node *value = read_node(r, e, name->place, depth);

        if (value == NULL)
            return NULL;
        yaml_push_pair(r->arena, map, name, value);
    }
}

static void refuse_decoration(struct reader *r, struct fy_token *anchor, struct fy_token *tag,
                              struct place otherwise)
{
    if (anchor != NULL)
        fail(r, place_of_token(r, anchor, otherwise), "anchors (`&name`) are not read here");
    if (tag != NULL)
        fail(r, place_of_token(r, tag, otherwise), "tags (`!name`) are not read here");
}

/* Reads a node and takes over the event. Returns NULL after reporting an error. */
static struct yaml_node *read_node(struct reader *r, struct fy_event *e, struct place otherwise,
                                   unsigned depth)
{
    struct yaml_node *n = NULL;
    enum fy_event_type type = e->type;
    struct place place = otherwise;

    if (type == FYET_SCALAR) {
        refuse_decoration(r, e->scalar.anchor, e->scalar.tag, otherwise);
        n = read_scalar(r, e, otherwise);
    } else if (type == FYET_SEQUENCE_START) {
        refuse_decoration(r, e->sequence_start.anchor, e->sequence_start.tag, otherwise);
        place = place_of_token(r, e->sequence_start.sequence_start, otherwise);
    } else if (type == FYET_MAPPING_START) {
        refuse_decoration(r, e->mapping_start.anchor, e->mapping_start.tag, otherwise);
        place = place_of_token(r, e->mapping_start.mapping_start, otherwise);
    } else if (type == FYET_ALIAS) {
        fail(r, place_of_token(r, e->alias.anchor, otherwise),
             "aliases (`*name`) are not read here: write it out, or quote the text");
    } else {
        fail(r, otherwise, "this is not YAML");
    }
    fy_parser_event_free(r->parser, e);
    if (!r->failed && n == NULL && depth >= YAML_DEPTH_MAX)
        fail(r, place, "nested too deep");
    if (r->failed || n != NULL)
        return r->failed ? NULL : n;
    return type == FYET_SEQUENCE_START ? read_list(r, place, depth + 1)
                                       : read_map(r, place, depth + 1);
}

/* Discards the next event and returns its type; FYET_NONE if there is none. */
static enum fy_event_type pass_event(struct reader *r)
{
    struct fy_event *e = next_event(r);
    enum fy_event_type type = e == NULL ? FYET_NONE : e->type;

    if (e != NULL)
        fy_parser_event_free(r->parser, e);
    return type;
}

static struct yaml_node *read_stream(struct reader *r)
{
    const struct place start = {r->file, 1, 1};

    if (pass_event(r) == FYET_NONE)
        return NULL;

    enum fy_event_type type = pass_event(r);

    if (type == FYET_STREAM_END) {
        struct yaml_node *empty = yaml_new(r->arena, YAML_MAP);

        empty->place = start;
        return empty;
    }

    struct fy_event *e = next_event(r);
    struct yaml_node *root = e == NULL ? NULL : read_node(r, e, start, 0);

    if (root == NULL || pass_event(r) == FYET_NONE)
        return NULL;
    e = next_event(r);
    if (e == NULL)
        return NULL;
    if (e->type != FYET_STREAM_END)
        fail(r, place_of_token(r, fy_event_get_token(e), start),
             "a second document (`---`) in one file");
    fy_parser_event_free(r->parser, e);
    return r->failed ? NULL : root;
}

/* The library stops at some errors without failing a call: returns true if it saw one. */
static bool has_collected_error(struct fy_diag *diag)
{
    void *previous = NULL;

    for (struct fy_diag_error *e; (e = fy_diag_errors_iterate(diag, &previous)) != NULL;)
        if (e->type == FYET_ERROR)
            return true;
    return false;
}

struct yaml_node *yaml_read(struct arena *a, const char *file, struct str text,
                            struct problems *problems)
{
    struct reader r = {.arena = a, .text = text, .problems = problems};
    struct yaml_node *root = NULL;

    r.file = arena_copy(a, str_from(file)).ptr;
    if (text.len > YAML_TEXT_MAX) {
        fail(&r, (struct place){r.file, 0, 0}, "larger than 4 MiB");
        return NULL;
    }
    check_bytes(&r);
    if (r.failed)
        return NULL;

    struct fy_diag_cfg diag_config;

    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    r.diag = fy_diag_create(&diag_config);
    fy_diag_set_collect_errors(r.diag, true);

    const struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
        .diag = r.diag,
    };

    r.parser = fy_parser_create(&config);
    if (text.len == 0) {
        root = yaml_new(a, YAML_MAP);
        root->place = (struct place){r.file, 1, 1};
    } else if (fy_parser_set_string(r.parser, text.ptr, text.len) == 0) {
        root = read_stream(&r);
    }
    if (!r.failed && (root == NULL || has_collected_error(r.diag)))
        report_syntax(&r);
    fy_parser_destroy(r.parser);
    fy_diag_destroy(r.diag);
    return r.failed ? NULL : root;
}
