#include "config.h"

#include "sync/definition/parse.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/map.h"
#include "src/base/nearest.h"
#include "src/format/variable.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"
#include "src/mysql/login.h"
#include "src/store/store.h"
#include "sync/definition/doubt.h"
#include "sync/definition/export.h"
#include "sync/definition/links.h"
#include "sync/definition/read.h"

#include <stdlib.h>

/* The three lists of definitions, to be handled by one code. */
enum section { SECTION_TOPICS = 0, SECTION_DATABASES, SECTION_TABLES, N_SECTIONS };

static const struct {
    const char *name;
    const struct form *form;
    size_t list_at, count_at;
    size_t name_at; /* offset of the object's name; a table may have a pattern instead */
} sections[N_SECTIONS] = {
    {"topics", &form_topic, offsetof(struct definitions, topics),
     offsetof(struct definitions, n_topics), offsetof(struct topic_definition, name)},
    {"databases", &form_database, offsetof(struct definitions, databases),
     offsetof(struct definitions, n_databases), offsetof(struct database_definition, name)},
    {"tables", &form_table, offsetof(struct definitions, tables),
     offsetof(struct definitions, n_tables), offsetof(struct table_definition, table)},
};

static size_t count_of(const struct definitions *d, enum section s)
{
    return *(const size_t *)((const char *)d + sections[s].count_at);
}

static void *object_of(const struct definitions *d, enum section s, size_t i)
{
    char *const *list = (char *const *)((const char *)d + sections[s].list_at);

    return *list + i * sections[s].form->size;
}

static struct str name_of(enum section s, const void *object)
{
    if (s == SECTION_TABLES)
        return table_name(object);
    return *(const struct str *)((const char *)object + sections[s].name_at);
}

static struct place place_of(enum section s, const void *object)
{
    return *(const struct place *)((const char *)object + sections[s].form->place_at);
}

/* Index the objects of a section by name; the first of each name wins. */
static struct map *names_of(const struct definitions *d, enum section s)
{
    struct map *m = map_new();

    for (size_t i = count_of(d, s); i-- > 0;)
        map_put(m, name_of(s, object_of(d, s, i)), object_of(d, s, i));
    return m;
}

static bool has(const struct definitions *d, enum section s, struct str name)
{
    for (size_t i = 0; i < count_of(d, s); i++)
        if (str_equal(name_of(s, object_of(d, s, i)), name))
            return true;
    return false;
}

static void make_room(struct definitions *d, enum section s, size_t cap)
{
    *(void **)((char *)d + sections[s].list_at) =
        arena_alloc(d->arena, cap + 1, sections[s].form->size);
}

/* Append a zeroed object to the section.  Needs reserved room. */
static void *add(struct definitions *d, enum section s)
{
    size_t *n = (size_t *)(void *)((char *)d + sections[s].count_at);

    return object_of(d, s, (*n)++);
}

static int compare_topics(const void *a, const void *b)
{
    return str_order(((const struct topic_definition *)a)->name,
                     ((const struct topic_definition *)b)->name);
}

static int compare_databases(const void *a, const void *b)
{
    return str_order(((const struct database_definition *)a)->name,
                     ((const struct database_definition *)b)->name);
}

static int compare_tables(const void *a, const void *b)
{
    return str_order(table_name(a), table_name(b));
}

static void sort(struct definitions *d)
{
    qsort(d->topics, d->n_topics, sizeof(*d->topics), compare_topics);
    qsort(d->databases, d->n_databases, sizeof(*d->databases), compare_databases);
    qsort(d->tables, d->n_tables, sizeof(*d->tables), compare_tables);
    definitions_sort_places(d);
    definitions_index_tables(d);
}

/* ---- from the store ---- */

static void read_stored(struct definitions *d, enum section s, struct str name, struct str body,
                        struct problems *problems)
{
    struct buf label = {0};
    struct definition_reader r = {.d = d, .problems = problems};

    buf_printf(&label, "stored %s %" STR_FMT, sections[s].form->noun, STR_ARG(name));
    r.stored = arena_copy(d->arena, buf_str(&label)).ptr;
    buf_free(&label);

    struct yaml_node *tree = yaml_read(d->arena, r.stored, body, problems);

    if (tree != NULL)
        definition_read_object(&r, sections[s].form, tree, add(d, s));
}

static enum section section_of(struct str kind)
{
    enum section s = SECTION_TOPICS;

    while (s < N_SECTIONS && !str_equal(kind, str_from(sections[s].form->noun)))
        s++;
    return s;
}

struct definitions *definition_from_store(const struct stored_definition *stored, size_t n,
                                          struct problems *problems)
{
    struct definitions *d = definitions_new();
    size_t before = problems_count(problems, SEVERITY_ERROR);

    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++)
        make_room(d, s, n);
    for (size_t i = 0; i < n; i++) {
        enum section s = section_of(stored[i].kind);

        if (s < N_SECTIONS)
            read_stored(d, s, stored[i].name, stored[i].body, problems);
        else
            problems_add(problems, SEVERITY_ERROR, (struct place){"store", 0, 0},
                         "a definition of an unknown kind, `%" STR_FMT "`",
                         STR_ARG(stored[i].kind));
    }
    sort(d);
    if (problems_count(problems, SEVERITY_ERROR) == before)
        return d;
    definitions_unref(d);
    return NULL;
}

/* ---- files ---- */

struct applying {
    struct definitions *d;
    const struct definitions *stored; /* may be NULL */
    struct problems *problems;
    struct yaml_node **trees;      /* one per file, NULL if unreadable */
    struct map *names[N_SECTIONS]; /* names that the files gave */
    bool filled;                   /* no variable is missing */
};

static void read_file_object(struct applying *ap, struct definition_reader *r, enum section s,
                             const struct yaml_node *node)
{
    void *object = add(ap->d, s);

    definition_read_object(r, sections[s].form, node, object);

    const struct str name = name_of(s, object);
    const void *twin = map_find(ap->names[s], name);

    if (name.len == 0 || twin == NULL) {
        map_put(ap->names[s], name, object);
        return;
    }

    const struct place first = place_of(s, twin);

    problems_add(ap->problems, SEVERITY_ERROR, definitions_place(ap->d, name, node->place),
                 "%s `%" STR_FMT "` is defined twice, first in %s:%u", sections[s].form->noun,
                 STR_ARG(name), first.file, first.line);
}

static void unknown_section(struct applying *ap, const struct yaml_node *name)
{
    struct nearest near = nearest_to(name->text);

    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++)
        nearest_offer(&near, str_from(sections[s].name));
    problems_add(ap->problems, SEVERITY_ERROR, name->place,
                 "a definition file has `topics`, `databases` and `tables`, no `%" STR_FMT
                 "`%s%" STR_FMT "%s",
                 STR_ARG(name->text), near.best.len > 0 ? "; did you mean `" : "",
                 STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
}

static void read_section(struct applying *ap, struct definition_reader *r, enum section s,
                         const struct yaml_node *list)
{
    bool empty = list->kind == YAML_SCALAR && yaml_scalar_kind(list) == YAML_NULL;

    if (list->kind != YAML_LIST && !empty)
        problems_add(ap->problems, SEVERITY_ERROR, list->place,
                     "`%s` must be a list, this is %s", sections[s].name, yaml_kind_name(list));
    for (size_t i = 0; list->kind == YAML_LIST && i < list->n; i++)
        read_file_object(ap, r, s, list->items[i]);
}

static void read_file(struct applying *ap, const struct yaml_node *tree, struct str folder)
{
    struct definition_reader r = {.d = ap->d, .problems = ap->problems, .folder = folder};

    if (tree->kind != YAML_MAP) {
        problems_add(ap->problems, SEVERITY_ERROR, tree->place,
                     "a definition file has `topics`, `databases` and `tables`, this is %s",
                     yaml_kind_name(tree));
        return;
    }
    for (size_t i = 0; i < tree->n; i++) {
        enum section s = SECTION_TOPICS;

        while (s < N_SECTIONS && !str_equal(tree->names[i]->text, str_from(sections[s].name)))
            s++;
        if (s == N_SECTIONS)
            unknown_section(ap, tree->names[i]);
        else
            read_section(ap, &r, s, tree->items[i]);
    }
}

static size_t list_length(const struct yaml_node *tree, enum section s)
{
    const struct yaml_node *list = tree == NULL || tree->kind != YAML_MAP
                                       ? NULL
                                       : yaml_find(tree, str_from(sections[s].name));

    return list == NULL ? 0 : list->n;
}

/* ---- passwords ---- */

/* Settle new_server's password against that of the stored object (NULL for none). */
static void settle_password(struct applying *ap, struct server_definition *new_server,
                            const struct server_definition *old, struct place place)
{
    struct str *password = &new_server->password;
    int ways = (password->len > 0) + (new_server->password_file.len > 0) +
               (new_server->password_env.len > 0);

    place = definitions_place(ap->d, *password, place);
    if (ways > 1) {
        problems_add(ap->problems, SEVERITY_ERROR, place,
                     "give one of `password_file`, `password_env` and `password`, not %d",
                     ways);
    } else if (ways == 0 && password->ptr == NULL && old != NULL) {
        *password = old->password;
    } else if (password->len > 0 && !str_equal(*password, STR(DEFINITION_HIDDEN))) {
        problems_add(ap->problems, SEVERITY_WARNING, place, "a literal password");
        problems_fix(ap->problems, "put it into a file of mode 0600 and set `password_file`");
    } else if (password->len > 0 && old != NULL && old->password.len > 0) {
        *password = old->password;
    } else if (password->len > 0) {
        problems_add(ap->problems, SEVERITY_ERROR, place,
                     "`" DEFINITION_HIDDEN "` stands for the stored password, but none is "
                     "stored");
        problems_fix(ap->problems,
                     "give `password_file`, `password_env` or the password itself");
    }
    *password =
        password->len == 0 ? (struct str){NULL, 0} : arena_copy(ap->d->arena, *password);
}

/*
 * Warn if a password and rows may travel where others can read them.  A topic's TLS covers its
 * databases.
 */
static void warn_of_open_way(struct applying *ap, const struct server_definition *server,
                             bool has_tls, struct place place)
{
    if (has_tls || mysql_login_is_local(server->address))
        return;
    place = definitions_place(ap->d, server->address, place);
    problems_add(ap->problems, SEVERITY_WARNING, place,
                 "rows come from another machine without TLS, so others on the network can "
                 "read them");
    problems_fix(ap->problems, "`tls: {}`, or `tls: {ca_file: ...}` with the authority that "
                               "signed the server's certificate");
}

static bool topic_has_tls(const struct applying *ap, struct str name)
{
    const struct topic_definition *old =
        ap->stored == NULL ? NULL : definitions_topic(ap->stored, name);

    for (size_t i = 0; i < ap->d->n_topics; i++)
        if (str_equal(ap->d->topics[i].name, name))
            return ap->d->topics[i].server.tls.given;
    return old != NULL && old->server.tls.given;
}

/* Settle the objects from files: the first n of each section. */
static void settle_servers(struct applying *ap)
{
    for (size_t i = 0; i < ap->d->n_topics; i++) {
        struct topic_definition *t = &ap->d->topics[i];
        const struct topic_definition *old =
            ap->stored == NULL ? NULL : definitions_topic(ap->stored, t->name);

        settle_password(ap, &t->server, old == NULL ? NULL : &old->server, t->place);
        warn_of_open_way(ap, &t->server, t->server.tls.given, t->place);
    }
    for (size_t i = 0; i < ap->d->n_databases; i++) {
        struct database_definition *db = &ap->d->databases[i];
        const struct database_definition *old =
            ap->stored == NULL ? NULL : definitions_database(ap->stored, db->name);

        /* A database on its topic's server needs no password of its own. */
        settle_password(ap, &db->server, old == NULL || !db->own_server ? NULL : &old->server,
                        db->place);
        warn_of_open_way(ap, &db->server, db->server.tls.given || topic_has_tls(ap, db->topic),
                         db->place);
        form_database.settle(db);
    }
}

/* ---- both ---- */

/* Copy the objects of `from` that d lacks, except the one called skip. */
static void take_over(struct definitions *d, const struct definitions *from,
                      enum section skip_in, struct str skip, struct problems *problems)
{
    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++) {
        struct map *own = names_of(d, s);

        for (size_t i = 0; i < count_of(from, s); i++) {
            const void *object = object_of(from, s, i);
            struct str name = name_of(s, object);
            struct buf json = {0};

            if (map_find(own, name) != NULL || (s == skip_in && str_equal(name, skip)))
                continue;
            definition_append_stored(sections[s].form, object, &json);
            read_stored(d, s, name, arena_copy(d->arena, buf_str(&json)), problems);
            buf_free(&json);
        }
        map_free(own, NULL);
    }
}

/* Check before reading any file, to bound the cost. */
static bool fits(struct applying *ap, enum section s, size_t n_files)
{
    size_t n = 0;

    for (size_t i = 0; i < n_files; i++) {
        n += list_length(ap->trees[i], s);
        if (n <= DEFINITIONS_MAX)
            continue;
        problems_add(ap->problems, SEVERITY_ERROR, ap->trees[i]->place,
                     "%zu %s are too many: Millrace takes %d", n, sections[s].name,
                     DEFINITIONS_MAX);
        problems_fix(ap->problems,
                     "use one `pattern` for similar tables, or run several daemons with a "
                     "part each");
        return false;
    }
    return true;
}

/* Check including the stored objects. */
static void check_size(const struct applying *ap, enum section s)
{
    if (count_of(ap->d, s) <= DEFINITIONS_MAX)
        return;
    problems_add(ap->problems, SEVERITY_ERROR, (struct place){"store", 0, 0},
                 "together with the stored ones these are %zu %s, but Millrace takes only %d",
                 count_of(ap->d, s), sections[s].name, DEFINITIONS_MAX);
    problems_fix(ap->problems, "delete those no longer needed, or use a `pattern`");
}

static void read_trees(struct applying *ap, const struct definition_file *files, size_t n)
{
    ap->trees = arena_alloc(ap->d->arena, n + 1, sizeof(*ap->trees));
    for (size_t i = 0; i < n; i++) {
        const char *name = arena_copy(ap->d->arena, files[i].name).ptr;

        problems_add_source(ap->problems, name, files[i].text);
        ap->trees[i] = yaml_read(ap->d->arena, name, files[i].text, ap->problems);
        if (ap->trees[i] != NULL && files[i].variables != NULL)
            ap->filled =
                variables_fill(files[i].variables, ap->d->arena, ap->trees[i], ap->problems) &&
                ap->filled;
    }
}

static void read_files(struct applying *ap, const struct definition_file *files, size_t n)
{
    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++) {
        size_t cap = ap->stored == NULL ? 0 : count_of(ap->stored, s);

        for (size_t i = 0; i < n; i++)
            cap += list_length(ap->trees[i], s);
        make_room(ap->d, s, cap);
        ap->names[s] = map_new();
    }
    for (size_t i = 0; i < n; i++)
        if (ap->trees[i] != NULL)
            read_file(ap, ap->trees[i], files[i].folder);
    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++)
        map_free(ap->names[s], NULL);
}

static void check_whole(struct applying *ap, bool prune)
{
    settle_servers(ap);
    for (size_t i = 0; i < ap->d->n_tables;
         i++) /* stored tables come after those of the files */
        definition_check_doubt(ap->d, &ap->d->tables[i], ap->problems);
    if (ap->stored != NULL && !prune)
        take_over(ap->d, ap->stored, N_SECTIONS, STR(""), ap->problems);
    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++)
        check_size(ap, s);
    sort(ap->d);
    definition_check_links(ap->d, ap->problems);
}

struct definitions *definition_apply(const struct definitions *stored,
                                     const struct definition_file *files, size_t n, bool prune,
                                     struct problems *problems)
{
    struct applying ap = {
        .d = definitions_new(), .stored = stored, .problems = problems, .filled = true};
    const size_t before = problems_count(problems, SEVERITY_ERROR);
    bool fit = true;

    read_trees(&ap, files, n);
    for (enum section s = SECTION_TOPICS; s < N_SECTIONS; s++)
        fit = fits(&ap, s, n) && fit;
    if (fit) {
        read_files(&ap, files, n);
        if (ap.filled) /* else names are missing that others refer to */
            check_whole(&ap, prune);
    }
    if (problems_count(problems, SEVERITY_ERROR) == before)
        return ap.d;
    definitions_unref(ap.d);
    return NULL;
}

/*
 * Find the first object that needs the one called name, for the message.  Returns false if
 * there is none.
 */
static bool find_user(const struct definitions *d, enum section s, struct str name,
                      struct buf *user)
{
    for (size_t i = 0; s == SECTION_TOPICS && i < d->n_databases; i++)
        if (str_equal(d->databases[i].topic, name)) {
            buf_printf(user, "database `%" STR_FMT "`", STR_ARG(d->databases[i].name));
            return true;
        }
    for (size_t i = 0; s == SECTION_TABLES && i < d->n_tables; i++)
        if (str_equal(d->tables[i].join.parent, name)) {
            buf_printf(user, "its child `%" STR_FMT "`", STR_ARG(d->tables[i].table));
            return true;
        }
    for (size_t i = 0; s == SECTION_DATABASES && i < d->n_tables; i++)
        if (definition_uses_database(d, &d->tables[i], name)) {
            buf_printf(user, "table `%" STR_FMT "`", STR_ARG(table_name(&d->tables[i])));
            return true;
        }
    return false;
}

struct definitions *definition_remove(const struct definitions *d, struct str kind,
                                      struct str name, struct err *err)
{
    enum section s = section_of(kind);
    struct buf user = {0};

    if (s == N_SECTIONS || !has(d, s, name)) {
        err_set_code(err, ERR_REJECT, "http", 404, "there is no %" STR_FMT " `%" STR_FMT "`",
                     STR_ARG(kind), STR_ARG(name));
        return NULL;
    }
    if (find_user(d, s, name, &user)) {
        err_set_code(err, ERR_REJECT, "http", 409,
                     "%" STR_FMT " `%" STR_FMT "` is used by %" STR_FMT ": delete that first",
                     STR_ARG(kind), STR_ARG(name), STR_ARG(buf_str(&user)));
        buf_free(&user);
        return NULL;
    }

    struct definitions *rest = definitions_new();
    struct problems *problems = problems_new();

    for (enum section i = SECTION_TOPICS; i < N_SECTIONS; i++)
        make_room(rest, i, count_of(d, i));
    take_over(rest, d, s, name, problems);
    sort(rest);
    problems_free(problems);
    return rest;
}
