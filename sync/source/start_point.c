#include "config.h"

#include "sync/source/start_point.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/store/store.h"
#include "sync/checkpoint/fingerprint.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"

#include <stdio.h>

static void adopt(struct start_point *s, const struct stored_checkpoint *cp,
                  uint64_t file_number)
{
    s->known = true;
    s->epoch = cp->epoch;
    s->position.file_number = (uint32_t)file_number;
    s->position.offset = cp->offset;
    s->position.event_ms = cp->event_ms;
    snprintf(s->file, sizeof(s->file), "%" STR_FMT, STR_ARG(cp->file));
    fingerprint_parse(cp->fingerprint, s->identity, sizeof(s->identity), &s->position);
    s->after = fingerprint_after(cp->fingerprint);
    s->by_gtids = cp->file.len == 0;
    s->final_version = cp->final_version;
}

bool start_point_load(struct start_point *s, struct store *store, const char *topic,
                      uint64_t epoch, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_checkpoint cp;
    uint64_t file_number;
    bool found = false;
    bool ok = store_load_checkpoint(store, a, str_from(topic), &cp, &found, err);

    *s = (struct start_point){.epoch = epoch};
    if (ok && found) {
        ok = gtid_set_parse(cp.gtid, &s->executed, err);
        if (ok && cp.file.len == 0)
            file_number = 0;
        else if (ok && !position_file_number(cp.file, &file_number))
            ok = err_set(err, ERR_FATAL,
                         "topic %s cannot go on from its stored position, as the name of log "
                         "file %" STR_FMT " ends in no number; fix: millrace topic reset %s",
                         topic, STR_ARG(cp.file), topic);
        if (ok)
            adopt(s, &cp, file_number);
    }
    if (s->executed == NULL)
        s->executed = gtid_set_new();
    arena_free(a);
    return ok;
}

void start_point_fini(struct start_point *s)
{
    gtid_set_free(s->executed);
}

bool start_point_settle(struct start_point *s, struct str file, uint64_t offset,
                        const struct gtid_set *executed)
{
    uint64_t file_number;

    if (s->known || file.len == 0 || !position_file_number(file, &file_number))
        return false;
    s->known = true;
    s->position = (struct commit_position){
        .file_number = (uint32_t)file_number, .offset = offset, .event_ms = clock_wall_ms()};
    snprintf(s->file, sizeof(s->file), "%" STR_FMT, STR_ARG(file));
    gtid_set_free(s->executed);
    s->executed = gtid_set_copy(executed);
    return true;
}

/* If the source moves again before anything was read, keep the place in the first log. */
struct stored_checkpoint start_point_move(const struct stored_checkpoint *cp,
                                          const char *identity, uint64_t epoch,
                                          struct buf *fingerprint)
{
    struct stored_checkpoint moved = *cp;
    uint64_t after = fingerprint_after(cp->fingerprint);
    struct err ignored = {0};

    if (cp->file.len > 0 &&
        !position_version((struct position){cp->file, cp->offset}, cp->epoch, &after, &ignored))
        after = 0;
    fingerprint_format_after(fingerprint, identity, after);
    moved.file = STR("");
    moved.offset = 0;
    moved.epoch = epoch;
    moved.fingerprint = buf_str(fingerprint);
    return moved;
}

uint64_t start_point_version(const struct start_point *s)
{
    return commit_position_version(&s->position, s->epoch);
}
