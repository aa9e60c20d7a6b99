#include "config.h"

#include "rebalance/verify/part/sample_state.h"

#include "src/base/hash.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct verify_sample *verify_sample_new(uint64_t asked)
{
    struct verify_sample *s = mem_alloc(1, sizeof(*s));

    s->asked = asked;
    random_init_system(&s->random);
    return s;
}

void sample_clear(struct verify_sample *s)
{
    if (s == NULL)
        return;
    key_set_fini(&s->seen);
    key_set_fini(&s->met);
    key_set_fini(&s->places);
    buf_free(&s->after);
    *s = (struct verify_sample){.asked = s->asked, .random = s->random};
}

void verify_sample_free(struct verify_sample *s)
{
    sample_clear(s);
    free(s);
}

uint64_t verify_sample_asked(const struct verify_sample *s)
{
    return s == NULL ? 0 : s->asked;
}

/* A hash of each id is enough: two of a million are the same once in 36 million samples. */
bool sample_note(struct verify_sample *s, struct str id)
{
    const uint64_t hash = hash_bytes(id, hash_seed());
    const uint32_t before = s->seen.n;

    (void)key_set_add(&s->seen, (struct str){(const char *)&hash, sizeof(hash)});
    return s->seen.n > before;
}
