#include "config.h"

#include "tests/unit/vectors.h"

#include "sync/value/geometry.h"

#define SRID "e6100000"
#define ONE  "000000000000f03f"
#define TWO  "0000000000000040"
#define HALF "000000000000e03f"

static void every_kind_becomes_geojson(void **state)
{
    static const char *const cases[][2] = {
        {SRID "01"
              "01000000" ONE TWO,
         "{\"type\":\"Point\",\"coordinates\":[1,2]}"},
        {SRID "00"
              "00000001"
              "3ff0000000000000"
              "4000000000000000",
         "{\"type\":\"Point\",\"coordinates\":[1,2]}"},
        {SRID "01"
              "02000000"
              "02000000" ONE TWO HALF ONE,
         "{\"type\":\"LineString\",\"coordinates\":[[1,2],[0.5,1]]}"},
        {SRID "01"
              "03000000"
              "01000000"
              "02000000" ONE TWO HALF ONE,
         "{\"type\":\"Polygon\",\"coordinates\":[[[1,2],[0.5,1]]]}"},
        {SRID "01"
              "04000000"
              "02000000"
              "0101000000" ONE TWO "0101000000" HALF ONE,
         "{\"type\":\"MultiPoint\",\"coordinates\":[[1,2],[0.5,1]]}"},
        {SRID "01"
              "05000000"
              "01000000"
              "0102000000"
              "01000000" ONE TWO,
         "{\"type\":\"MultiLineString\",\"coordinates\":[[[1,2]]]}"},
        {SRID "01"
              "06000000"
              "01000000"
              "0103000000"
              "01000000"
              "01000000" ONE TWO,
         "{\"type\":\"MultiPolygon\",\"coordinates\":[[[[1,2]]]]}"},
        {SRID "01"
              "07000000"
              "02000000"
              "0101000000" ONE TWO "0102000000"
              "01000000" ONE TWO,
         "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\",\"coordinates\":"
         "[1,2]},{\"type\":\"LineString\",\"coordinates\":[[1,2]]}]}"},
        {SRID "01"
              "07000000"
              "00000000",
         "{\"type\":\"GeometryCollection\",\"geometries\":[]}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf bytes = {0}, text = {0};
        const struct str wkb = unhex(&bytes, cases[i][0]);

        assert_true(geometry_append_geojson(&text, wkb));
        assert_string_equal(text.ptr, cases[i][1]);
        for (size_t n = 0; n < wkb.len; n++) {
            buf_clear(&text);
            assert_false(geometry_append_geojson(&text, (struct str){wkb.ptr, n}));
            assert_int_equal(text.len, 0);
        }
        buf_free(&bytes);
        buf_free(&text);
    }
}

static void what_is_no_geometry_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        SRID "02"
             "01000000" ONE TWO,
        SRID "01"
             "08000000" ONE TWO,
        SRID "01"
             "01000000" ONE TWO "00",
        SRID "01"
             "02000000"
             "ffffffff" ONE TWO,
        SRID "01"
             "04000000"
             "01000000"
             "0102000000"
             "01000000" ONE TWO,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf bytes = {0}, text = {0};

        assert_false(geometry_append_geojson(&text, unhex(&bytes, cases[i])));
        buf_free(&bytes);
        buf_free(&text);
    }
}

static void collections_in_collections_have_a_bound(void **state)
{
    struct buf bytes = {0}, text = {0}, part = {0};

    (void)state;
    buf_append(&bytes, unhex(&part, SRID));
    for (int i = 0; i < 100000; i++)
        buf_append(&bytes, unhex(&part, "01"
                                        "07000000"
                                        "01000000"));
    buf_append(&bytes, unhex(&part, "01"
                                    "07000000"
                                    "00000000"));
    assert_false(geometry_append_geojson(&text, buf_str(&bytes)));
    buf_free(&bytes);
    buf_free(&text);
    buf_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_becomes_geojson),
        cmocka_unit_test(what_is_no_geometry_is_refused),
        cmocka_unit_test(collections_in_collections_have_a_bound),
    };
    return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
