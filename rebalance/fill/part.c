#include "config.h"

#include "rebalance/fill/part.h"

#include "rebalance/fill/bucket.h"
#include "src/format/json.h"
#include "src/store/store.h"

void part_fini(struct fill_part *p)
{
    buf_free(&p->table);
    buf_free(&p->member);
    buf_free(&p->keys);
    buf_free(&p->bucket_column);
    fill_note_fini(&p->note);
}

void part_append(struct buf *json, const struct fill_part *p)
{
    struct json_writer w = {.out = json};
    struct buf note = {0};

    fill_note_append(&note, &p->note);
    json_open_object(&w);
    json_put_string(&w, STR("table"), buf_str(&p->table));
    json_put_string(&w, STR("member"), buf_str(&p->member));
    json_put_u64(&w, STR("place"), p->place);
    json_put_u64(&w, STR("by"), p->by);
    json_put_bool(&w, STR("by_level"), p->by_level);
    json_put_u64(&w, STR("level"), p->level);
    json_put_string(&w, STR("bucket_column"), buf_str(&p->bucket_column));
    json_put_u64(&w, STR("mod"), p->mod);
    json_put_u64(&w, STR("rest"), p->rest);
    json_put_raw(&w, STR("note"), buf_str(&note));
    json_close_object(&w);
    buf_free(&note);
}

static bool read_number(struct str json, const char *pointer, uint64_t most, uint32_t *out)
{
    uint64_t v = 0;
    const bool ok = json_find_u64(json, pointer, &v) && v <= most;

    *out = ok ? (uint32_t)v : 0;
    return ok;
}

bool part_read(struct str json, struct fill_part *p)
{
    struct str note;
    uint32_t by;

    *p = (struct fill_part){.place = 0};
    (void)json_find_text(json, "/bucket_column", &p->bucket_column);
    if (!json_find_text(json, "/table", &p->table) ||
        !json_find_text(json, "/member", &p->member) ||
        !read_number(json, "/place", UINT16_MAX, &p->place) ||
        !read_number(json, "/by", UINT32_MAX, &by) ||
        !json_find_bool(json, "/by_level", &p->by_level) ||
        !read_number(json, "/level", UINT16_MAX, &p->level) ||
        !read_number(json, "/mod", PARTS_MAX, &p->mod) ||
        !read_number(json, "/rest", PARTS_MAX, &p->rest) || !json_find(json, "/note", &note) ||
        !fill_note_read(note, &p->note))
        return false;
    p->by = by;
    return p->mod > 0 && p->rest < p->mod;
}

uint64_t part_start(const struct stored_job *part)
{
    uint64_t start = 0;

    (void)json_find_u64(part->parameters, "/part/note/version", &start);
    return start;
}

static bool is_open_of(const struct stored_job *job, const struct version_name *v)
{
    return str_equal(job->kind, STR(JOB_PART)) && job->version == v->number &&
           str_equal(job->index, v->index) && bucket_is_open(job);
}

bool part_newest_note(const struct stored_job *jobs, size_t n, const struct version_name *v,
                      struct fill_note *note, uint64_t *start)
{
    const struct stored_job *newest = NULL;
    struct fill_part part;
    struct str text;

    for (size_t i = 0; i < n; i++)
        if (is_open_of(&jobs[i], v) &&
            (newest == NULL || part_start(&jobs[i]) > part_start(newest)))
            newest = &jobs[i];
    if (newest == NULL || !json_find(newest->parameters, "/part", &text))
        return false;

    const bool ok = part_read(text, &part);

    if (ok) {
        *note = part.note;
        *start = note->own.version;
        part.note = (struct fill_note){.anywhere = false};
    }
    part_fini(&part);
    return ok;
}
