#include "config.h"

#include "tests/fakes/fake_list.h"

#include "src/base/map.h"
#include "src/format/json.h"

#include <string.h>

bool fake_is_list(const struct fake_http_request *req)
{
    static const struct str word = STR("ignore_unavailable=true");

    return str_equal(req->method, STR("GET")) &&
           memmem(req->query.ptr, req->query.len, word.ptr, word.len) != NULL;
}

static bool fits(struct str pattern, struct str name)
{
    if (pattern.len == 0 || pattern.ptr[pattern.len - 1] != '*')
        return str_equal(pattern, name);
    return name.len + 1 >= pattern.len && memcmp(name.ptr, pattern.ptr, pattern.len - 1) == 0;
}

/* By its own name, or an alias. */
static bool is_wanted(struct fake_search *f, struct str names, struct str index)
{
    while (names.len > 0) {
        const char *comma = memchr(names.ptr, ',', names.len);
        const struct str one = {names.ptr,
                                comma == NULL ? names.len : (size_t)(comma - names.ptr)};

        if (fits(one, index) || str_equal(fake_engine_resolve(f->engine, one), index))
            return true;
        names = comma == NULL
                    ? STR("")
                    : (struct str){comma + 1, names.len - (size_t)(comma + 1 - names.ptr)};
    }
    return false;
}

static void write_aliases(struct fake_search *f, struct str of, struct json_writer *w)
{
    struct str alias, index;

    json_write_key(w, STR("aliases"));
    json_open_object(w);
    for (size_t i = 0; fake_engine_next_alias(f->engine, &i, &alias, &index);)
        if (str_equal(index, of))
            json_put_raw(w, alias, STR("{}"));
    json_close_object(w);
}

void fake_list_indexes(struct fake_search *f, struct str names, struct fake_http_answer *answer)
{
    struct json_writer w = {.out = &answer->body};
    struct str index;

    json_open_object(&w);
    for (size_t i = 0; fake_engine_next(f->engine, &i, &index);) {
        const char *mapping = map_find(f->mappings, index);

        if (!is_wanted(f, names, index))
            continue;
        json_write_key(&w, index);
        json_open_object(&w);
        write_aliases(f, index, &w);
        json_put_raw(&w, STR("mappings"), mapping == NULL ? STR("{}") : str_from(mapping));
        json_close_object(&w);
    }
    json_close_object(&w);
}
