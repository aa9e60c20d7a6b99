#include "config.h"

#include "sync/value/value.h"

#include <string.h>

bool value_same(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_ABSENT:
    case VALUE_NULL: return true;
    case VALUE_INT: return a->i == b->i;
    case VALUE_UINT:
    case VALUE_YEAR:
    case VALUE_BIT:
    case VALUE_ENUM:
    case VALUE_SET: return a->u == b->u;
    case VALUE_FLOAT:
    case VALUE_DOUBLE: return memcmp(&a->d, &b->d, sizeof(a->d)) == 0;
    case VALUE_DECIMAL:
    case VALUE_TEXT:
    case VALUE_BYTES:
    case VALUE_DATE:
    case VALUE_DATETIME:
    case VALUE_TIMESTAMP:
    case VALUE_TIME:
    case VALUE_JSON:
    case VALUE_GEOMETRY:
    case VALUE_VECTOR: return str_equal(a->s, b->s);
    }
    return false;
}
