#include "config.h"

#include "sync/value/geometry.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/base/number.h"

#include <math.h>

enum wkb_type {
    WKB_POINT = 1,
    WKB_LINE,
    WKB_POLYGON,
    WKB_MULTI_POINT,
    WKB_MULTI_LINE,
    WKB_MULTI_POLYGON,
    WKB_COLLECTION,
};

/* Limits nested collections.  Servers allow deeper ones, which people do not need. */
#define DEPTH_MAX 32

struct geometry_reader {
    struct cursor c;
    struct buf *out;
    bool big_endian; /* of the geometry being read */
};

static uint32_t take_u32(struct geometry_reader *r)
{
    const uint8_t *p = cursor_take(&r->c, 4);

    if (p == NULL)
        return 0;
    return r->big_endian ? load_be32(p) : load_le32(p);
}

static double take_double(struct geometry_reader *r)
{
    const uint8_t *p = cursor_take(&r->c, 8);

    if (p == NULL)
        return 0;

    const uint64_t bits = r->big_endian ? load_be64(p) : load_le64(p);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static void append_number(struct buf *b, double v)
{
    char text[NUMBER_MAX];

    if (isfinite(v))
        buf_append(b, (struct str){text, number_double(text, v)});
    else
        buf_append(b, STR("null"));
}

static void append_position(struct geometry_reader *r)
{
    const double x = take_double(r);
    const double y = take_double(r);

    buf_append_char(r->out, '[');
    append_number(r->out, x);
    buf_append_char(r->out, ',');
    append_number(r->out, y);
    buf_append_char(r->out, ']');
}

/* Read a count of things of at least size bytes.  Fails if so many cannot follow. */
static uint32_t take_count(struct geometry_reader *r, size_t size)
{
    const uint32_t n = take_u32(r);

    if (n > cursor_left(&r->c) / size) {
        r->c.failed = true;
        return 0;
    }
    return n;
}

static void append_line(struct geometry_reader *r)
{
    const uint32_t n = take_count(r, 16);

    buf_append_char(r->out, '[');
    for (uint32_t i = 0; i < n && !r->c.failed; i++) {
        if (i > 0)
            buf_append_char(r->out, ',');
        append_position(r);
    }
    buf_append_char(r->out, ']');
}

static void append_polygon(struct geometry_reader *r)
{
    const uint32_t n = take_count(r, 4);

    buf_append_char(r->out, '[');
    for (uint32_t i = 0; i < n && !r->c.failed; i++) {
        if (i > 0)
            buf_append_char(r->out, ',');
        append_line(r);
    }
    buf_append_char(r->out, ']');
}

/* Read byte order and type. */
static uint32_t take_header(struct geometry_reader *r)
{
    const uint8_t order = cursor_u8(&r->c);

    if (order > 1)
        r->c.failed = true;
    r->big_endian = order == 0;
    return take_u32(r);
}

/* Append the coordinates of a simple geometry in a list of its kind. */
static void append_coordinates(struct geometry_reader *r, enum wkb_type type)
{
    if (type == WKB_POINT)
        append_position(r);
    else if (type == WKB_LINE)
        append_line(r);
    else
        append_polygon(r);
}

/* Append elements with headers of their own, all of one simple type. */
static void append_multi(struct geometry_reader *r, enum wkb_type element)
{
    const uint32_t n = take_count(r, 9);

    buf_append_char(r->out, '[');
    for (uint32_t i = 0; i < n && !r->c.failed; i++) {
        if (i > 0)
            buf_append_char(r->out, ',');
        if (take_header(r) != element)
            r->c.failed = true;
        append_coordinates(r, element);
    }
    buf_append_char(r->out, ']');
}

static void append_geometry(struct geometry_reader *r, unsigned depth);

static void append_collection(struct geometry_reader *r, unsigned depth)
{
    const uint32_t n = take_count(r, 9);

    buf_append_char(r->out, '[');
    for (uint32_t i = 0; i < n && !r->c.failed; i++) {
        if (i > 0)
            buf_append_char(r->out, ',');
        append_geometry(r, depth + 1);
    }
    buf_append_char(r->out, ']');
}

static void append_geometry(struct geometry_reader *r, unsigned depth)
{
    static const char *const names[] = {
        [WKB_POINT] = "Point",
        [WKB_LINE] = "LineString",
        [WKB_POLYGON] = "Polygon",
        [WKB_MULTI_POINT] = "MultiPoint",
        [WKB_MULTI_LINE] = "MultiLineString",
        [WKB_MULTI_POLYGON] = "MultiPolygon",
        [WKB_COLLECTION] = "GeometryCollection",
    };
    const uint32_t type = take_header(r);

    if (r->c.failed || depth > DEPTH_MAX || type < WKB_POINT || type > WKB_COLLECTION) {
        r->c.failed = true;
        return;
    }
    buf_append(r->out, STR("{\"type\":\""));
    buf_append(r->out, str_from(names[type]));
    buf_append(r->out,
               type == WKB_COLLECTION ? STR("\",\"geometries\":") : STR("\",\"coordinates\":"));
    if (type == WKB_COLLECTION)
        append_collection(r, depth);
    else if (type >= WKB_MULTI_POINT)
        append_multi(r, (enum wkb_type)(type - WKB_MULTI_POINT + WKB_POINT));
    else
        append_coordinates(r, (enum wkb_type)type);
    buf_append_char(r->out, '}');
}

bool geometry_append_geojson(struct buf *b, struct str srid_wkb)
{
    struct geometry_reader r = {.c = cursor_of(srid_wkb), .out = b};
    const size_t before = b->len;

    cursor_take(&r.c, 4); /* SRID */
    append_geometry(&r, 0);
    if (!r.c.failed && cursor_left(&r.c) == 0)
        return true;
    b->len = before;
    if (b->ptr != NULL)
        b->ptr[before] = '\0';
    return false;
}
