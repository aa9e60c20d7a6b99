#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/store.h"
#include "sync/definition/diff.h"
#include "sync/definition/export.h"
#include "sync/definition/parse.h"

#include <assert.h>

static struct definitions *apply(const struct definitions *stored, struct str text)
{
    struct problems *problems = problems_new();
    const struct definition_file file = {STR("fuzz.yaml"), text, STR("/folder"), NULL};
    struct definitions *d = definition_apply(stored, &file, 1, false, problems);
    struct buf shown = {0};

    assert((d == NULL) == (problems_count(problems, SEVERITY_ERROR) > 0));
    problems_append_text(problems, &shown);
    problems_append_json(problems, &shown);
    buf_free(&shown);
    problems_free(problems);
    return d;
}

static struct definitions *through_the_store(const struct definitions *d)
{
    struct arena *a = arena_new();
    struct problems *problems = problems_new();
    struct stored_definition *stored;
    size_t n;

    definitions_to_store(d, a, &stored, &n);

    struct definitions *loaded = definition_from_store(stored, n, problems);

    assert(loaded != NULL);
    problems_free(problems);
    arena_free(a);
    return loaded;
}

/* Whatever is taken comes back from the store the same, and its export changes nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct definitions *d = apply(NULL, (struct str){(const char *)data, size});

    if (d == NULL)
        return 0;

    struct definitions *loaded = through_the_store(d);
    struct buf first = {0}, second = {0};
    struct definition_diff diff;

    definitions_append_yaml(d, &first);

    struct definitions *again = apply(loaded, buf_str(&first));

    assert(again != NULL);
    definitions_append_yaml(again, &second);
    assert(str_equal(buf_str(&first), buf_str(&second)));
    definition_diff_make(loaded, again, &diff);
    assert(diff.n == 0);
    definition_diff_free(&diff);
    definitions_unref(d);
    definitions_unref(loaded);
    definitions_unref(again);
    buf_free(&first);
    buf_free(&second);
    return 0;
}
