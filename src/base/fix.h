/*
 * A message may end with its remedy: "the port is taken; fix: choose another".
 */
#ifndef SRC_BASE_FIX_H
#define SRC_BASE_FIX_H

#include "src/base/str.h"

/* Cuts the fix off *message and returns it. Returns an empty string if the message has none. */
static inline struct str fix_split(struct str *message)
{
    const struct str mark = STR("; fix: ");

    for (size_t i = 0; i + mark.len <= message->len; i++) {
        if (memcmp(message->ptr + i, mark.ptr, mark.len) != 0)
            continue;

        struct str fix = {message->ptr + i + mark.len, message->len - i - mark.len};

        message->len = i;
        return fix;
    }
    return (struct str){NULL, 0};
}

#endif
