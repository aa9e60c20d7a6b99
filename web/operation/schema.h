/*
 * JSON schemas (draft 2020-12) of what a request takes.
 *
 * @thread any (pure)
 */
#ifndef WEB_OPERATION_SCHEMA_H
#define WEB_OPERATION_SCHEMA_H

#include <stdbool.h>

struct input;
struct json_writer;

/* Write the schema of a value of in. */
void schema_write_input(struct json_writer *w, const struct input *in);
/* Write the schema of an object that has these members and no other. */
void schema_write_members(struct json_writer *w, const struct input *list);
/* Write the schema of an object of delivery settings that change at run time. */
void schema_write_settings(struct json_writer *w);

#endif
