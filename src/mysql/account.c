#include "config.h"

#include "src/mysql/account.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#include <string.h>

bool mysql_account_append(struct mysql_conn *c, struct buf *out, struct err *err)
{
    struct buf account = {0};
    const bool ok = mysql_conn_scalar(c, STR("SELECT CURRENT_USER()"), &account, err);

    if (ok) {
        const char *at = memrchr(account.ptr, '@', account.len);
        const size_t len = at != NULL ? (size_t)(at - account.ptr) : account.len;

        mysql_quote_text(out, (struct str){account.ptr, len});
        if (at != NULL) {
            buf_append_char(out, '@');
            mysql_quote_text(out, str_from(at + 1));
        }
    }
    buf_free(&account);
    return ok;
}

void mysql_account_append_known(struct mysql_conn *c, struct buf *out)
{
    struct err ignored = {0};

    if (c == NULL || !mysql_account_append(c, out, &ignored))
        buf_append(out, STR("the topic's user"));
}
