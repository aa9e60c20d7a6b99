#include "config.h"

#include "src/app/alarm_settings.h"

#include "rebalance/tell/alarms.h"
#include "src/config/configuration.h"
#include "src/file/secret_file.h"

#include <stdlib.h>

bool alarm_settings_read(const struct configuration *c, struct alarm_options *out,
                         struct alarm_secrets *read, struct err *err)
{
    const struct settings *s = configuration_settings(c);

    *read = (struct alarm_secrets){.url = NULL};
    if (s->alarms_url_file != NULL && !secret_file_read(s->alarms_url_file, &read->url, err))
        return false;
    if (!configuration_secret(c, "alarms.secret", &read->secret, err))
        return false;
    read->urls[0] = read->url;
    *out = (struct alarm_options){.urls = read->url != NULL ? read->urls : s->alarms_urls.items,
                                  .n_urls = read->url != NULL ? 1 : s->alarms_urls.n,
                                  .secret = read->secret,
                                  .ca_file = s->alarms_ca_file,
                                  .allow_private = s->alarms_allow_private,
                                  .allow_http = s->alarms_allow_http,
                                  .after_ms = s->alarms_after_ms,
                                  .after_warning_ms = s->alarms_after_warning_ms,
                                  .repeat_ms = s->alarms_repeat_ms};
    return true;
}

void alarm_secrets_free(struct alarm_secrets *read)
{
    free(read->url);
    free(read->secret);
}

bool alarm_settings_check(const struct configuration *c, struct err *err)
{
    struct alarm_options opt;
    struct alarm_secrets read;
    const bool ok = alarm_settings_read(c, &opt, &read, err) && alarm_options_check(&opt, err);

    alarm_secrets_free(&read);
    return ok;
}
