/*
 * Stored decimals, dates and times, and geometries: the first byte chooses what, the second its
 * precision, scale or fraction.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/format/json.h"
#include "sync/value/decimal.h"
#include "sync/value/geometry.h"
#include "sync/value/temporal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N_CELL = 32 };

static void check_decimal(const uint8_t *cell, uint8_t digits)
{
    const unsigned precision = 1 + digits % DECIMAL_PRECISION_MAX,
                   scale = cell[N_CELL - 1] % 31;
    char text[DECIMAL_MAX];
    const size_t size = decimal_size(precision, scale <= precision ? scale : precision);
    uint8_t *exact = malloc(size);

    assert(size > 0 && size <= N_CELL);
    memcpy(exact, cell, size);

    const size_t n =
        decimal_text(text, exact, precision, scale <= precision ? scale : precision);
    struct err err;

    assert(n <= DECIMAL_MAX && (n == 0 || json_valid((struct str){text, n}, &err)));
    free(exact);
}

static void check_temporal(const uint8_t *cell, unsigned fsp)
{
    const int64_t packed = (int64_t)load_le64(cell);
    char text[TEMPORAL_MAX];

    assert(temporal_date(text, cell) <= TEMPORAL_MAX);
    assert(temporal_datetime2(text, cell, fsp) <= TEMPORAL_MAX);
    assert(temporal_timestamp2(text, cell, fsp) <= TEMPORAL_MAX);
    assert(temporal_time2(text, cell, fsp) <= TEMPORAL_MAX);
    assert(temporal_old_datetime(text, cell) <= TEMPORAL_MAX);
    assert(temporal_old_timestamp(text, cell) <= TEMPORAL_MAX);
    assert(temporal_old_time(text, cell) <= TEMPORAL_MAX);
    assert(temporal_packed_date(text, packed) <= TEMPORAL_MAX);
    assert(temporal_packed_datetime(text, packed) <= TEMPORAL_MAX);
    assert(temporal_packed_time(text, packed) <= TEMPORAL_MAX);
    if (fsp == 0)
        return;
    assert(temporal_hires_datetime(text, cell, fsp) <= TEMPORAL_MAX);
    assert(temporal_hires_timestamp(text, cell, fsp) <= TEMPORAL_MAX);
    assert(temporal_hires_time(text, cell, fsp) <= TEMPORAL_MAX);
}

static void check_geometry(struct str bytes)
{
    struct buf text = {0};
    struct err err;

    if (geometry_append_geojson(&text, bytes))
        assert(text.len > (1 << 16) || json_valid(buf_str(&text), &err));
    else
        assert(text.len == 0);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint8_t cell[N_CELL] = {0};

    if (len < 2)
        return 0;
    memcpy(cell, bytes + 2, len - 2 < N_CELL ? len - 2 : N_CELL);
    switch (bytes[0] % 3) {
    case 0: check_decimal(cell, bytes[1]); break;
    case 1: check_temporal(cell, bytes[1] % 7); break;
    default: check_geometry((struct str){(const char *)bytes + 2, len - 2});
    }
    return 0;
}
