/*
 * JSON answers as people read them: aligned tables, or YAML.
 *
 * A table is made from a list of objects and a list of columns, each a JSON pointer and a way
 * to print what is there.  Widths are those of a terminal (wide and combining characters count
 * right); control characters from a database are shown, not sent.
 *
 * @thread any (no state)
 */
#ifndef SRC_RENDER_H
#define SRC_RENDER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum render_kind {
    RENDER_TEXT = 0, /* a string as it is, another value as its JSON */
    RENDER_STATE,    /* with a mark and a colour */
    RENDER_COUNT,    /* 1,234,567 */
    RENDER_BYTES,    /* 88.2 MiB */
    RENDER_SECONDS,  /* 15 min 32 s */
    RENDER_YES,      /* "yes" or nothing */
    RENDER_START,    /* a text of any length, of which a table has the first 60 characters */
};

struct render_column {
    const char *title;
    const char *pointer; /* RFC 6901, from the item: "/name"; "/a|/b": the first that is there */
    enum render_kind kind;
};

struct render_style {
    bool colour;
    bool marks; /* the terminal takes UTF-8 */
};

/* What fits standard output: colour for a terminal unless NO_COLOR is set. */
struct render_style render_style_stdout(void);

/* Append one line a row of items (the JSON text of a list), below a line of titles. */
void render_table(struct buf *out, struct render_style style, struct str items,
                  const struct render_column *columns, size_t n_columns);

/* Append one value the way a cell has it; nothing for null and for what is not there. */
void render_value(struct buf *out, struct render_style style, struct str object,
                  const char *pointer, enum render_kind kind);

/* Append text with control characters and broken UTF-8 made visible. */
void render_safe(struct buf *out, struct str text);

/* The terminal columns that text takes, without what colours it. */
size_t render_width(struct str text);

/* Append a JSON text in lines, indented. */
void render_json(struct buf *out, struct str json);

/* Append a JSON text as YAML; numbers keep their digits. */
void render_yaml(struct buf *out, struct str json);

#endif
