#include "config.h"

#include "sync/checkpoint/save_due.h"

void save_due_note(struct save_due *d, enum progress_move move, bool all_done, int64_t now_ms)
{
    d->all_done = all_done;
    if (d->move == PROGRESS_STAYS)
        d->since_ms = now_ms;
    if (move > d->move)
        d->move = move;
}

bool save_due_is(const struct save_due *d, uint32_t file_number, int64_t now_ms)
{
    switch (d->move) {
    case PROGRESS_STAYS: return false;
    case PROGRESS_ASIDE:
        return file_number != d->file_number || now_ms - d->since_ms >= SAVE_ASIDE_MS;
    case PROGRESS_CHANGES: break;
    }
    return true;
}

int64_t save_due_in_ms(const struct save_due *d, int64_t now_ms)
{
    const int64_t left_ms = d->since_ms + SAVE_ASIDE_MS - now_ms;

    if (!d->all_done)
        return 0;
    switch (d->move) {
    case PROGRESS_STAYS: return INT64_MAX;
    case PROGRESS_ASIDE: return left_ms > 0 ? left_ms : 0;
    case PROGRESS_CHANGES: break;
    }
    return 0;
}

void save_due_saved(struct save_due *d, uint32_t file_number)
{
    d->move = PROGRESS_STAYS;
    d->file_number = file_number;
}
