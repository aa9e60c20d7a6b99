#include "config.h"

#include "sync/denied.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/mysql.h"

#include <pthread.h>
#include <stdlib.h>

/* There for good once it was denied something. */
struct denied_index {
    struct denied_index *next;
    char *name;
    struct err why[N_DENIED_READS]; /* ERR_NONE: it may be read */
};

struct denied {
    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct denied_index *first;
};

struct denied *denied_new(void)
{
    struct denied *d = mem_alloc(1, sizeof(*d));

    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void denied_free(struct denied *d)
{
    if (d == NULL)
        return;
    for (struct denied_index *i = d->first, *next; i != NULL; i = next) {
        next = i->next;
        free(i->name);
        free(i);
    }
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Called with lock held. */
static struct denied_index *find(const struct denied *d, struct str index)
{
    for (struct denied_index *i = d->first; i != NULL; i = i->next)
        if (str_equal(str_from(i->name), index))
            return i;
    return NULL;
}

/* Called with lock held. */
static struct denied_index *add(struct denied *d, const char *index)
{
    struct denied_index *i = mem_alloc(1, sizeof(*i));

    i->name = mem_copy(index);
    i->next = d->first;
    d->first = i;
    return i;
}

void denied_tell(struct denied *d, const char *index, enum denied_read read,
                 const struct err *why)
{
    if (why != NULL && !mysql_err_is_denial(why))
        return;
    pthread_mutex_lock(&d->lock);

    struct denied_index *i = find(d, str_from(index));

    if (i == NULL && why != NULL)
        i = add(d, index);
    if (i != NULL)
        i->why[read] = why != NULL ? *why : (struct err){0};
    pthread_mutex_unlock(&d->lock);
}

bool denied_find(struct denied *d, struct str index, struct err *why)
{
    pthread_mutex_lock(&d->lock);

    const struct denied_index *i = find(d, index);
    bool found = false;

    for (size_t r = 0; i != NULL && r < N_DENIED_READS && !found; r++) {
        found = i->why[r].kind != ERR_NONE;
        if (found)
            *why = i->why[r];
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}
