#include "config.h"

#include "sync/source/transport/transport.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char origin[] = "binlog";

static const struct {
    const char *name;
    enum err_kind kind;
} reasons[] = {
    [TRANSPORT_NONE] = {"none", ERR_RETRY},
    [TRANSPORT_LOST] = {"lost", ERR_RETRY},
    [TRANSPORT_CUT] = {"cut", ERR_RETRY},
    [TRANSPORT_BEHIND] = {"behind", ERR_RETRY},
    [TRANSPORT_INTERRUPTED] = {"interrupted", ERR_STOP},
    [TRANSPORT_AUTH] = {"auth", ERR_REJECT},
    [TRANSPORT_PRIVILEGE] = {"privilege", ERR_REJECT},
    [TRANSPORT_NO_BINLOG] = {"no_binlog", ERR_REJECT},
    [TRANSPORT_PURGED] = {"purged", ERR_FATAL},
    [TRANSPORT_BEYOND] = {"beyond", ERR_FATAL},
    [TRANSPORT_GTID_PURGED] = {"gtid_purged", ERR_FATAL},
    [TRANSPORT_DIVERGED] = {"diverged", ERR_FATAL},
    [TRANSPORT_DUPLICATE_ID] = {"duplicate_id", ERR_FATAL},
    [TRANSPORT_MAX_PACKET] = {"max_packet", ERR_FATAL},
    [TRANSPORT_DAMAGED] = {"damaged", ERR_FATAL},
    [TRANSPORT_REFUSED] = {"refused", ERR_FATAL},
};

const char *transport_reason_name(enum transport_reason reason)
{
    return (size_t)reason < ARRAY_LEN(reasons) ? reasons[reason].name : "unknown";
}

enum transport_reason transport_reason_of(const struct err *err)
{
    if (err->origin == NULL || strcmp(err->origin, origin) != 0)
        return TRANSPORT_NONE;
    return (enum transport_reason)err->code;
}

bool transport_is_gap(enum transport_reason reason)
{
    return reason == TRANSPORT_PURGED || reason == TRANSPORT_BEYOND ||
           reason == TRANSPORT_GTID_PURGED || reason == TRANSPORT_DIVERGED;
}

bool transport_fail(struct err *err, enum transport_reason reason, const char *fmt, ...)
{
    char msg[ERR_MSG_MAX];
    va_list ap;

    assert((size_t)reason < ARRAY_LEN(reasons));
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    return err_set_code(err, reasons[reason].kind, origin, (int)reason, "%s", msg);
}

/*
 * What servers say when they end a dump.  Number 1236 stands for everything, so the text
 * decides; the texts are those of MySQL 5.7 to 9 ("master" became "source", "slave" "replica")
 * and MariaDB 10 to 11.
 */
static const struct {
    unsigned number;
    const char *text;
    enum transport_reason reason;
} refusals[] = {
    {1236, "Could not find first log file name", TRANSPORT_PURGED},
    {1236, "Could not open log file", TRANSPORT_PURGED},
    {1236, "could not find next log", TRANSPORT_PURGED},
    {1236, "purged required binary logs", TRANSPORT_GTID_PURGED},
    {1236, "purged binary logs containing GTIDs", TRANSPORT_GTID_PURGED},
    {1236, "Could not find GTID state requested", TRANSPORT_GTID_PURGED},
    {1236, "not in the master's binlog", TRANSPORT_DIVERGED},
    {1236, "more GTIDs than", TRANSPORT_DIVERGED},
    {1236, "same server_uuid/server_id", TRANSPORT_DUPLICATE_ID},
    {1236, "same server_id", TRANSPORT_DUPLICATE_ID},
    {1236, "same server-id", TRANSPORT_DUPLICATE_ID},
    {1236, "position > file size", TRANSPORT_BEYOND},
    {1236, "impossible position", TRANSPORT_BEYOND},
    /* Of an offset between two events they say any of these; both read with the largest
     * limit. */
    {1236, "exceeded max_allowed_packet", TRANSPORT_BEYOND},
    {1236, "bogus data in log event", TRANSPORT_BEYOND},
    {1236, "truncated in the middle of event", TRANSPORT_BEYOND},
    {1236, "crc check", TRANSPORT_DAMAGED},
    {1236, "Binary log is not open", TRANSPORT_NO_BINLOG},
    {1236, "memory allocation failed", TRANSPORT_LOST},
    {4052, "", TRANSPORT_DUPLICATE_ID},
    {1044, "", TRANSPORT_PRIVILEGE},
    {1045, "", TRANSPORT_PRIVILEGE},
    {1142, "", TRANSPORT_PRIVILEGE},
    {1227, "", TRANSPORT_PRIVILEGE},
};

enum transport_reason transport_classify(unsigned number, const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (refusals[i].number == number && strstr(text, refusals[i].text) != NULL)
            return refusals[i].reason;
    return TRANSPORT_REFUSED;
}
