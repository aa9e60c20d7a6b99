/*
 * The settings of the alarms, and the secrets that they lead to.
 *
 * @thread one at a time
 */
#ifndef SRC_APP_ALARM_SETTINGS_H
#define SRC_APP_ALARM_SETTINGS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct alarm_options;
struct configuration;

struct alarm_secrets {
    char *url, *secret; /* owned; NULL: none */
    const char *urls[1];
};

/*
 * Read the files that the settings name.  *out borrows from c and read.  Call
 * alarm_secrets_free() in any case.  ERR_REJECT: a file cannot be read.
 */
bool alarm_settings_read(const struct configuration *c, struct alarm_options *out,
                         struct alarm_secrets *read, struct err *err) MUST_CHECK;
void alarm_secrets_free(struct alarm_secrets *read);
/* Read them, and check that alarms can be sent with them, without sending any. */
bool alarm_settings_check(const struct configuration *c, struct err *err) MUST_CHECK;

#endif
