#include "config.h"

#include "sync/change/log_place.h"

#include "sync/decode/transaction.h"
#include "sync/position/position.h"
#include "sync/source/transport/transport.h"

#include <inttypes.h>
#include <string.h>

#define FILE_START 4 /* behind the magic bytes */

void log_place_begin(struct log_place *p, bool at_gtids)
{
    p->running = (struct commit_position){0};
    p->file[0] = '\0';
    p->unplaced = at_gtids;
}

void log_place_expect(struct log_place *p, const struct commit_position *known)
{
    p->expected = *known;
    p->expecting = known->gtid_start != 0;
}

/* The file's number rarely changes. */
static bool set_file(struct log_place *p, struct str file, struct err *err)
{
    uint64_t n;

    if (file.len == 0 || str_equal(str_from(p->file), file))
        return true;
    if (file.len >= sizeof(p->file) || !position_file_number(file, &n) || n > POSITION_FILE_MAX)
        return err_set(err, ERR_FATAL,
                       "binlog file %" STR_FMT " has no number, which positions need",
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

/* Keep header and checksum: they differ in another log. */
static struct commit_position gtid_position(const struct event *e, struct str raw)
{
    struct commit_position position = {.gtid_start = e->start};

    memcpy(position.gtid_event, raw.ptr, EVENT_HEADER_LEN);
    memcpy(position.gtid_event + EVENT_HEADER_LEN, raw.ptr + raw.len - 4, 4);
    return position;
}

static bool another_stands(const struct log_place *p, struct err *err)
{
    return transport_fail(err, TRANSPORT_DIVERGED,
                          "the binlog is not the one that was read before: offset %" PRIu64 " "
                          "has another transaction (RESET, restored backup, or the address "
                          "leads to another server)",
                          p->expected.gtid_start);
}

bool log_place_check(struct log_place *p, const struct step *step, struct str raw,
                     struct err *err)
{
    const struct event *e = &step->event;

    /* In another log the known place may be inside a transaction, between two of its events. */
    if (!is_gtid(e->type))
        return !p->expecting || step->kind < STEP_BEGIN || another_stands(p, err);
    p->unplaced = false;
    p->running = gtid_position(e, raw);
    if (!p->expecting)
        return true;
    p->expecting = false;
    if (e->start == p->expected.gtid_start && p->file_number == p->expected.file_number &&
        memcmp(p->running.gtid_event, p->expected.gtid_event, COMMIT_GTID_BYTES) == 0)
        return true;
    return another_stands(p, err);
}

bool log_place_opens_file(const struct log_place *p, const struct step *step)
{
    return step->kind == STEP_FORMAT && step->event.start == FILE_START &&
           step->event.end != 0 && p->running.gtid_start == 0 && !p->expecting && !p->unplaced;
}

void log_place_break(struct log_place *p)
{
    p->running = (struct commit_position){0};
}

void log_place_end(struct log_place *p, const struct step *step)
{
    p->position = p->running;
    p->position.file_number = p->file_number;
    memcpy(p->position_file, p->file, sizeof(p->position_file));
    p->position.offset = step->event.end;
    p->position.event_ms = (int64_t)step->event.time * 1000;
    p->position.gtid = step->gtid;
    p->running = (struct commit_position){0};
}

/* In another log a known place may be inside an event, whose bytes then look damaged. */
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
