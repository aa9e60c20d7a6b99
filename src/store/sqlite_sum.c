#include "config.h"

#include "src/store/sqlite_sum.h"

#include <stdint.h>
#include <zlib.h>

static uLong add_number(uLong sum, char kind, uint64_t number)
{
    unsigned char bytes[9] = {(unsigned char)kind};

    for (size_t i = 0; i < 8; i++)
        bytes[i + 1] = (unsigned char)(number >> (8 * i));
    return crc32(sum, bytes, sizeof(bytes));
}

static uLong add_value(uLong sum, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL: return crc32(sum, (const unsigned char *)"n", 1);
    case SQLITE_INTEGER: return add_number(sum, 'i', (uint64_t)sqlite3_value_int64(value));
    default: break;
    }

    const unsigned char *text = sqlite3_value_text(value);
    const size_t len = (size_t)sqlite3_value_bytes(value);

    sum = add_number(sum, 't', len);
    return len == 0 ? sum : crc32_z(sum, text, len);
}

static void row_sum(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    uLong sum = 0;

    for (int i = 0; i < n; i++)
        sum = add_value(sum, values[i]);
    sqlite3_result_int64(ctx, (sqlite3_int64)sum);
}

int sqlite_sum_register(sqlite3 *db)
{
    return sqlite3_create_function(db, "row_sum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                   row_sum, NULL, NULL);
}
