/*
 * Encrypts small secrets for the store, by a key in a file of its own.
 *
 * AES-128 in SIV mode (RFC 5297). The same text under the same label gives the same sealed
 * text, so a comparison sees no change. A sealed text does not open under another label.
 *
 * @thread any, once opened
 */
#ifndef SRC_FILE_SEAL_H
#define SRC_FILE_SEAL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct seal;

/* Reads the key from the file's first line, 64 hexadecimal digits. If the file is missing,
 * makes it with a new key, readable by its owner alone. Blocks on the file. ERR_REJECT names
 * the file. */
bool seal_open(struct seal **out, const char *path, struct err *err) MUST_CHECK;
void seal_close(struct seal *s); /* NULL is fine */

/* Appends text in sealed form: plain ASCII without quotes. */
void seal_text(const struct seal *s, struct str label, struct str text, struct buf *out);
/* Decrypts and appends a sealed text. Returns false and appends nothing if the key or the label
 * differs or the text is damaged. */
bool seal_open_text(const struct seal *s, struct str label, struct str sealed,
                    struct buf *out) MUST_CHECK;
/* Returns true if text has the form of a sealed text. */
bool seal_is_text(struct str text);

/* Appends the JSON object body with its member "password", if any, sealed or opened. A password
 * that does not open stays sealed: whoever uses it reports that. */
void seal_body(const struct seal *s, struct str label, struct str body, struct buf *out);
void seal_open_body(const struct seal *s, struct str label, struct str body, struct buf *out);
/* Returns true if body has a password in clear text. */
bool seal_body_is_open(struct str body);
/*
 * Appends body without its password. Returns false and appends nothing if body has no password.
 */
bool seal_body_rest(struct str body, struct buf *out);

#endif
