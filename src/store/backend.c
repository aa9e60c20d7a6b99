#include "config.h"

#include "src/store/backend.h"

#include "src/base/buf.h"

const struct store_token *store_backend_token(const struct store_backend *b, struct str rest)
{
    for (const struct store_token *t = b->ops->tokens; t->name != NULL; t++) {
        size_t len = strlen(t->name);

        if (rest.len >= len && memcmp(rest.ptr, t->name, len) == 0)
            return t;
    }
    return NULL;
}

void store_backend_render(const struct store_backend *b, struct str sql, struct buf *out)
{
    for (size_t i = 0; i < sql.len;) {
        const struct store_token *t =
            sql.ptr[i] == '{' ? store_backend_token(b, (struct str){sql.ptr + i, sql.len - i})
                              : NULL;

        if (t != NULL) {
            buf_append(out, str_from(t->text));
            i += strlen(t->name);
        } else {
            buf_append_char(out, sql.ptr[i++]);
        }
    }
}
