/*
 * Renders JSON answers for people, as aligned tables or YAML.
 *
 * A table is a list of objects and a list of columns; a column is a JSON pointer and a way to
 * print what it points to.  Widths are terminal columns, correct for wide and combining
 * characters.  Control characters from a database are made visible, never sent to the terminal.
 *
 * @thread any (no state)
 */
#ifndef SRC_CLI_RENDER_H
#define SRC_CLI_RENDER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum render_kind {
    RENDER_TEXT = 0, /* a string as it is, any other value as JSON */
    RENDER_STATE,    /* with a mark and a colour */
    RENDER_COUNT,    /* 1,234,567 */
    RENDER_BYTES,    /* 88.2 MiB */
    RENDER_SECONDS,  /* 15 min 32 s */
    /* A table's lag in seconds: "unknown" for null, "≤" if "lag_at_most" beside it is true. */
    RENDER_LAG,
    /* A count of a table: nothing if "version" beside it is null; else "unknown" for null. */
    RENDER_KNOWN,
    RENDER_AGE,   /* milliseconds: "3 s ago", "now", or "never" for null */
    RENDER_YES,   /* "yes" or nothing */
    RENDER_START, /* the first 60 characters of a text */
    RENDER_SPARE, /* a text whose column a narrow window does without */
    RENDER_SHORT, /* the first 8 characters of an id */
    RENDER_LIST,  /* the texts of a list, with commas */
};

struct render_column {
    const char *title;
    /* RFC 6901, from the item: "/name"; "/a|/b": the first one present. */
    const char *pointer;
    enum render_kind kind;
};

struct render_style {
    bool colour;
    bool marks;   /* the terminal takes UTF-8 */
    size_t width; /* columns that a table may take, by cutting texts in the middle; 0: any */
};

/* True if fd is a terminal that shows colours, and NO_COLOR is unset. */
bool render_colours(int fd);
/* True if fd is a terminal on which a text can be written over. */
bool render_redraws(int fd);
/* The style for standard output. */
struct render_style render_style_stdout(void);

/* Append a line of titles and one line per object of items, the JSON text of a list. */
void render_table(struct buf *out, struct render_style style, struct str items,
                  const struct render_column *columns, size_t n_columns);

/* Append one value as a cell shows it; nothing for null or a missing value. */
void render_value(struct buf *out, struct render_style style, struct str object,
                  const char *pointer, enum render_kind kind);

/* Append a JSON text, indented, in lines. */
void render_json(struct buf *out, struct str json);

/* Append a JSON text as YAML; numbers keep their digits. */
void render_yaml(struct buf *out, struct str json);

/* One part of a line, shown only if its value is known: "311 queued, 20 being read again". */
struct render_part {
    const char *before;
    const char *pointer; /* RFC 6901, from the item */
    enum render_kind kind;
    const char *after; /* NULL: nothing */
};

/*
 * Append the parts that have a value and the end of the line; nothing at all if no part has
 * one.
 */
void render_line(struct buf *out, struct str item, const struct render_part *parts, size_t n);

#endif
