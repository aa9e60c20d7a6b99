#include "config.h"

#include "tests/unit/unit.h"

#include "sync/decode/checksum.h"

#include <zlib.h>

static void every_length_and_alignment_gives_the_crc_of_zlib(void **state)
{
    uint8_t bytes[600];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 167 + (i >> 3));
    for (size_t start = 0; start < 17; start++)
        for (size_t n = 0; n + start <= sizeof(bytes); n++) {
            const uint32_t begin = n % 3 == 0 ? 0 : (uint32_t)(n * 2654435761u);

            assert_int_equal(checksum_crc32(begin, bytes + start, n),
                             crc32(begin, bytes + start, (uInt)n));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_and_alignment_gives_the_crc_of_zlib),
    };
    return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
