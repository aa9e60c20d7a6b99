#include "config.h"

#include "rebalance/cluster/node_data.h"

#include "rebalance/cluster/shared_text.h"
#include "src/format/json.h"

static const struct str cloud_names[] = {
    [CLOUD_NORMAL] = STR("NORMAL"),
    [CLOUD_REBALANCING] = STR("REBALANCING"),
};

static const struct str status_names[] = {
    [NODE_CLEAN] = STR("CLEAN"),   [NODE_CLEAN_OK] = STR("CLEAN_OK"), [NODE_INIT] = STR("INIT"),
    [NODE_FINISH] = STR("FINISH"), [NODE_NORMAL] = STR("NORMAL"),
};

struct str node_status_name(enum node_status s)
{
    return status_names[s];
}

/* Returns which of the words stands here; an unknown one is a fault. */
static size_t read_word(struct json_reader *r, const struct str *words, size_t n)
{
    struct str raw;

    if (!json_read_string(r, &raw))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (json_string_equal(raw, words[i]))
            return i;
    json_reader_fail(r, "an unknown status");
    return 0;
}

static void read_id(struct json_reader *r, void *d)
{
    shared_text_read_name(r, &((struct node_data *)d)->id);
}

static void read_name(struct json_reader *r, void *d)
{
    shared_text_read_name(r, &((struct node_data *)d)->name);
}

static void read_version(struct json_reader *r, void *d)
{
    shared_text_read_name(r, &((struct node_data *)d)->version);
}

static void read_started(struct json_reader *r, void *d)
{
    shared_text_read_number(r, &((struct node_data *)d)->started_ms);
}

static void read_cloud(struct json_reader *r, void *d)
{
    ((struct node_data *)d)->cloud =
        (enum cloud_status)read_word(r, cloud_names, ARRAY_LEN(cloud_names));
}

static void read_status(struct json_reader *r, void *d)
{
    ((struct node_data *)d)->status =
        (enum node_status)read_word(r, status_names, ARRAY_LEN(status_names));
}

static void read_session(struct json_reader *r, void *d)
{
    shared_text_read_number(r, &((struct node_data *)d)->session);
}

static void read_job_type(struct json_reader *r, void *d)
{
    shared_text_read_name(r, &((struct node_data *)d)->job_type);
}

static void read_jobs(struct json_reader *r, void *d)
{
    shared_text_read_names(r, &((struct node_data *)d)->jobs);
}

static void read_parameters(struct json_reader *r, void *d)
{
    struct node_data *data = d;

    buf_clear(&data->parameters);
    (void)json_read_text(r, &data->parameters);
}

static void read_threads(struct json_reader *r, void *d)
{
    shared_text_read_number(r, &((struct node_data *)d)->n_threads);
}

static void read_evacuated(struct json_reader *r, void *d)
{
    (void)json_read_bool(r, &((struct node_data *)d)->is_evacuated);
}

static const struct shared_member members[] = {
    {STR("id"), read_id},
    {STR("name"), read_name},
    {STR("version"), read_version},
    {STR("started"), read_started},
    {STR("cloud_status"), read_cloud},
    {STR("node_status"), read_status},
    {STR("session"), read_session},
    {STR("job_type"), read_job_type},
    {STR("jobs"), read_jobs},
    {STR("parameters"), read_parameters},
    {STR("threads"), read_threads},
    {STR("evacuated"), read_evacuated},
};

void node_data_format(struct buf *out, const struct node_data *d)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_string(&w, STR("id"), buf_str(&d->id));
    json_put_string(&w, STR("name"), buf_str(&d->name));
    json_put_string(&w, STR("version"), buf_str(&d->version));
    json_put_u64(&w, STR("started"), d->started_ms);
    json_put_string(&w, STR("cloud_status"), cloud_names[d->cloud]);
    json_put_string(&w, STR("node_status"), status_names[d->status]);
    json_put_u64(&w, STR("session"), d->session);
    json_put_string(&w, STR("job_type"), buf_str(&d->job_type));
    shared_text_put_names(&w, STR("jobs"), &d->jobs);
    json_put_string(&w, STR("parameters"), buf_str(&d->parameters));
    json_put_u64(&w, STR("threads"), d->n_threads);
    json_put_bool(&w, STR("evacuated"), d->is_evacuated);
    shared_text_write_unknown(&w, &d->unknown);
    json_close_object(&w);
}

bool node_data_parse(struct node_data *d, struct str text, struct err *err)
{
    node_data_free(d);
    if (!shared_text_parse(text, members, ARRAY_LEN(members), d, &d->unknown, err)) {
        node_data_free(d);
        return err_wrap(err, "node data");
    }
    if (d->id.len == 0) {
        node_data_free(d);
        return err_set(err, ERR_REJECT, "node data: no id");
    }
    return true;
}

static void copy_buf(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_append(to, buf_str(from));
}

void node_data_copy(struct node_data *to, const struct node_data *from)
{
    copy_buf(&to->id, &from->id);
    copy_buf(&to->name, &from->name);
    copy_buf(&to->version, &from->version);
    to->started_ms = from->started_ms;
    to->cloud = from->cloud;
    to->status = from->status;
    to->session = from->session;
    copy_buf(&to->job_type, &from->job_type);
    name_set_copy(&to->jobs, &from->jobs);
    copy_buf(&to->parameters, &from->parameters);
    to->n_threads = from->n_threads;
    to->is_evacuated = from->is_evacuated;
    copy_buf(&to->unknown, &from->unknown);
}

static bool same(const struct buf *a, const struct buf *b)
{
    return str_equal(buf_str(a), buf_str(b));
}

bool node_data_equal(const struct node_data *a, const struct node_data *b)
{
    return same(&a->id, &b->id) && same(&a->name, &b->name) && same(&a->version, &b->version) &&
           a->started_ms == b->started_ms && a->cloud == b->cloud && a->status == b->status &&
           a->session == b->session && same(&a->job_type, &b->job_type) &&
           name_set_equal(&a->jobs, &b->jobs) && same(&a->parameters, &b->parameters) &&
           a->n_threads == b->n_threads && a->is_evacuated == b->is_evacuated &&
           same(&a->unknown, &b->unknown);
}

void node_data_free(struct node_data *d)
{
    buf_free(&d->id);
    buf_free(&d->name);
    buf_free(&d->version);
    buf_free(&d->job_type);
    name_set_free(&d->jobs);
    buf_free(&d->parameters);
    buf_free(&d->unknown);
    *d = (struct node_data){0};
}
