#include "config.h"

#include "sync/log_place.h"

#include "sync/binlog/position.h"
#include "sync/binlog/transaction.h"
#include "sync/binlog/transport.h"

#include <inttypes.h>
#include <string.h>

#define FILE_START 4 /* behind the magic bytes */

void log_place_begin(struct log_place *p, bool at_gtids)
{
    p->running = (struct mark){0};
    p->file[0] = '\0';
    p->unplaced = at_gtids;
}

void log_place_expect(struct log_place *p, const struct mark *known)
{
    p->expected = *known;
    p->expecting = known->gtid_start != 0;
}

/* The file's number changes rarely. */
static bool set_file(struct log_place *p, struct str file, struct err *err)
{
    uint64_t n;

    if (file.len == 0 || str_equal(str_from(p->file), file))
        return true;
    if (file.len >= sizeof(p->file) || !position_file_number(file, &n) || n > POSITION_FILE_MAX)
        return err_set(err, ERR_FATAL,
                       "binlog file %" STR_FMT " has no number that positions could be made of",
                       STR_ARG(file));
    memcpy(p->file, file.ptr, file.len);
    p->file[file.len] = '\0';
    p->file_number = (uint32_t)n;
    return true;
}

bool log_place_enter(struct log_place *p, const struct event *e, uint64_t epoch,
                     uint64_t *version, struct err *err)
{
    if (!set_file(p, e->file, err))
        return false;
    if (e->end > POSITION_OFFSET_MAX)
        return err_set(err, ERR_FATAL,
                       "offset %" PRIu64 " is beyond what document versions can hold", e->end);
    *version = epoch << 53 | (uint64_t)p->file_number << 33 | e->end;
    return true;
}

static bool is_gtid(uint8_t type)
{
    return type == EVENT_GTID || type == EVENT_ANONYMOUS_GTID || type == EVENT_GTID_TAGGED ||
           type == EVENT_MARIADB_GTID;
}

/* Header and checksum: they change when the log is another one. */
static struct mark gtid_mark(const struct event *e, struct str raw)
{
    struct mark mark = {.gtid_start = e->start};

    memcpy(mark.gtid_event, raw.ptr, EVENT_HEADER_LEN);
    memcpy(mark.gtid_event + EVENT_HEADER_LEN, raw.ptr + raw.len - 4, 4);
    return mark;
}

bool log_place_check(struct log_place *p, const struct event *e, struct str raw,
                     struct err *err)
{
    if (!is_gtid(e->type))
        return true;
    p->unplaced = false;
    p->running = gtid_mark(e, raw);
    if (!p->expecting)
        return true;
    p->expecting = false;
    if (e->start == p->expected.gtid_start && p->file_number == p->expected.file_number &&
        memcmp(p->running.gtid_event, p->expected.gtid_event, MARK_GTID_BYTES) == 0)
        return true;
    return transport_fail(err, TRANSPORT_DIVERGED,
                          "the binlog is not the one that was read before: at offset %" PRIu64
                          " another transaction stands (RESET, restored backup, or another "
                          "server behind the address)",
                          p->expected.gtid_start);
}

bool log_place_opens_file(const struct log_place *p, const struct step *step)
{
    return step->kind == STEP_FORMAT && step->event.start == FILE_START &&
           step->event.end != 0 && p->running.gtid_start == 0 && !p->expecting && !p->unplaced;
}

void log_place_end(struct log_place *p, const struct step *step)
{
    p->mark = p->running;
    p->mark.file_number = p->file_number;
    memcpy(p->mark_file, p->file, sizeof(p->mark_file));
    p->mark.offset = step->event.end;
    p->mark.event_ms = (int64_t)step->event.time * 1000;
    p->mark.gtid = step->gtid;
    p->running = (struct mark){0};
}

/* In another log a known place may lie in the middle of an event: its bytes then look damaged.
 */
void log_place_explain(const struct log_place *p, struct err *err)
{
    const struct err cause = *err;

    if (!p->expecting || cause.kind == ERR_RETRY || cause.kind == ERR_STOP)
        return;
    transport_fail(err, TRANSPORT_DIVERGED,
                   "the binlog is not the one that was read before, or damaged: at offset "
                   "%" PRIu64 " no transaction begins (%s)",
                   p->expected.gtid_start, cause.msg);
}
