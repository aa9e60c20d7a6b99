/*
 * Text in every character set: the first byte chooses the set.  What is converted is UTF-8;
 * what is not valid is left alone; ASCII stays what it is in the sets that have it.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/base/utf8.h"
#include "sync/value/charset.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct charset_converter *converter;

    if (len < 2)
        return 0;
    if (converter == NULL)
        converter = charset_converter_new();

    const uint32_t id = bytes[0] | (uint32_t)(bytes[1] & 0x0f) << 8;
    const struct charset *cs = charset_of_collation(id);
    const struct str in = {(const char *)bytes + 2, len - 2}, untouched = STR("untouched");
    struct arena *a = arena_new();
    struct str out = untouched;

    if (cs != NULL) {
        assert(charset_find(charset_name(cs)) == cs);
        if (!charset_is_binary(cs) && charset_to_utf8(converter, cs, in, a, &out))
            assert(utf8_valid(out));
        else
            assert(out.ptr == untouched.ptr);
    }
    arena_free(a);
    return 0;
}
