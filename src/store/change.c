#include "config.h"

#include "src/store/change.h"

#include "src/store/core.h"

bool store_changes(struct store *s, uint64_t *n, struct err *err)
{
    if (!store_begin(s, err))
        return false;

    const bool ok = store_select_number(s, "SELECT number FROM change_count WHERE id = 1",
                                        NO_BINDS, n, NULL, err);

    return store_end(s, ok, err);
}
