#include "config.h"

#include "sync/delivery/index/lines.h"

#include "tests/unit/index_queue_fixture.h"

enum { N_STREAM = 1000, N_JOBS = 400, FIRST_OF_JOBS = 5000 };

/* As arrive(), but a job asks for it. */
static void ask_for_job(struct fixture *f, unsigned id)
{
    struct document *doc;
    struct write *w;
    char name[16];
    bool to_place;

    snprintf(name, sizeof(name), "%u", id);
    w = a_write(f->target, DOC_REFRESH, name, 2, "");
    w->gathered = true;
    doc = document_table_arrive(f->table, f->index_queue, w, &f->ends, &to_place);
    if (to_place)
        index_queue_place(f->index_queue, doc, f->now_ms);
    else
        index_queue_resize(f->index_queue, doc);
}

static void arrive_both(struct fixture *f)
{
    for (unsigned i = 0; i < N_STREAM; i++)
        arrive(f, DOC_REFRESH, i, 1, "");
    for (unsigned i = 0; i < N_JOBS; i++)
        ask_for_job(f, FIRST_OF_JOBS + i);
}

static unsigned id_of(const struct document *doc)
{
    char id[16];

    snprintf(id, sizeof(id), "%.*s", STR_ARG(write_id(doc->now)));
    return (unsigned)strtoul(id, NULL, 10);
}

static unsigned count_jobs(struct document *const *docs, size_t n)
{
    unsigned n_jobs = 0;

    for (size_t i = 0; i < n; i++)
        n_jobs += id_of(docs[i]) >= FIRST_OF_JOBS;
    return n_jobs;
}

/* So many are read and found, and wait for a request; how many of them are of jobs. */
static unsigned read_some(struct fixture *f, size_t max)
{
    struct document **docs = mem_alloc(max, sizeof(struct document *));
    const size_t n = index_queue_next_load(f->index_queue, max, docs);
    const unsigned n_jobs = count_jobs(docs, n);

    for (size_t i = 0; i < n; i++) {
        document_loaded(docs[i], 3, STR("{}"), &f->ends);
        index_queue_place(f->index_queue, docs[i], f->now_ms);
    }
    index_queue_end_load(f->index_queue, n);
    free(docs);
    return n_jobs;
}

static void set(struct fixture *f, unsigned share, unsigned batch_max)
{
    struct index_queue_options opt = usual;

    opt.workers = 1;
    opt.job_share = share;
    opt.batch_max = batch_max;
    begin(f, &opt);
}

static void push(struct lines *l, struct document *doc, bool for_job)
{
    struct target *t = a_target("orders_v2");
    struct write *w = a_write(t, DOC_REFRESH, "1", 1, "");

    target_unref(t);
    w->gathered = for_job;
    document_begin(doc, w);
    lines_push(l, doc, false);
}

/* Of any run of takes: never one more or less than the share says. */
static void check_share(unsigned share)
{
    enum { N = 1000 };
    static struct document docs[2][N];
    struct write_ends ends = {0};
    struct lines l;
    unsigned n_jobs = 0;

    memset(docs, 0, sizeof(docs));
    lines_init(&l);
    for (unsigned i = 0; i < N; i++) {
        push(&l, &docs[LINE_STREAM][i], false);
        push(&l, &docs[LINE_JOBS][i], true);
    }
    for (unsigned n = 0; n < N; n++) {
        struct lines_rest rest = lines_all(&l);
        struct document *doc = lines_next(&l, share, &rest);

        assert_ptr_equal(doc, doc->for_job ? &docs[LINE_JOBS][n_jobs]
                                           : &docs[LINE_STREAM][n - n_jobs]);
        n_jobs += doc->for_job;
        lines_use_turn(&l, share, doc);
        list_remove(&doc->link);
        assert_int_equal(n_jobs, (n + 1) * share / 100);
    }
    for (unsigned i = 0; i < N; i++)
        assert_false(document_end(&docs[LINE_STREAM][i], OUTCOME_DELIVERED, &ends) ||
                     document_end(&docs[LINE_JOBS][i], OUTCOME_DELIVERED, &ends));
}

static void while_both_lines_have_documents_each_has_its_share_of_any_few(void **state)
{
    (void)state;
    for (unsigned share = 1; share <= 90; share++)
        check_share(share);
}

static void behind_a_backlog_a_job_has_its_share_of_what_is_read_and_sent(void **state)
{
    static const unsigned shares[] = {10, 20, 50, 90};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        struct batch b;

        set(f, shares[i], 100);
        arrive_both(f);
        assert_int_equal(read_some(f, 100), shares[i]);
        read_some(f, N_STREAM + N_JOBS);
        assert_true(next(f, &b));
        assert_int_equal(b.n, 100);
        assert_int_equal(count_jobs(b.docs, b.n), shares[i]);
        deliver(f, &b);
        while (next(f, &b))
            deliver(f, &b);
        assert_int_equal(document_table_count(f->table), 0);
    }
}

static void nothing_is_owed_for_when_only_one_line_had_documents(void **state)
{
    struct fixture *f = *state;

    set(f, 50, 100);
    for (unsigned i = 0; i < N_STREAM; i++)
        arrive(f, DOC_REFRESH, i, 1, "");
    assert_int_equal(read_some(f, N_STREAM / 2), 0);
    for (unsigned i = 0; i < N_JOBS; i++)
        ask_for_job(f, FIRST_OF_JOBS + i);
    assert_int_equal(read_some(f, 100), 50);
}

static bool has(const struct batch *b, unsigned id)
{
    for (size_t i = 0; i < b->n; i++)
        if (id_of(b->docs[i]) == id)
            return true;
    return false;
}

/* The last of them is asked for by a job, too: op is the stream's. */
static void arrive_as_well(struct fixture *f, enum doc_op op, bool job_first)
{
    if (job_first)
        ask_for_job(f, N_STREAM - 1);
    for (unsigned i = 0; i < N_STREAM; i++)
        arrive(f, op, i, 3, "{}");
    if (!job_first)
        ask_for_job(f, N_STREAM - 1);
}

static void check_as_well(struct fixture *f)
{
    struct batch b;

    assert_true(next(f, &b));
    assert_true(has(&b, N_STREAM - 1));
    do
        deliver(f, &b);
    while (read_some(f, N_STREAM), next(f, &b));
    assert_int_equal(document_table_count(f->table), 0);
}

static void what_a_job_asks_for_as_well_waits_no_longer_than_the_job(void **state)
{
    struct fixture *f = *state;

    set(f, 20, 10);
    arrive_as_well(f, DOC_REFRESH, false);
    read_some(f, 10);
    check_as_well(f);
    arrive_as_well(f, DOC_REFRESH, true);
    read_some(f, N_STREAM);
    check_as_well(f);
}

static void what_was_read_before_a_job_asked_for_it_goes_first_to_be_read_again(void **state)
{
    struct fixture *f = *state;

    set(f, 20, 10);
    for (unsigned i = 0; i < N_STREAM; i++)
        arrive(f, DOC_INDEX, i, 1, "{}");
    ask_for_job(f, N_STREAM - 1);
    check_as_well(f);
}

static void with_other_lanes_what_waits_keeps_its_lines(void **state)
{
    struct fixture *f = *state;
    struct index_queue_options opt = usual;
    struct batch b;

    set(f, 20, 100);
    arrive_both(f);
    read_some(f, N_STREAM + N_JOBS);
    opt.workers = 2;
    opt.batch_max = 100;
    index_queue_set_options(f->index_queue, &opt);
    assert_true(next(f, &b));
    assert_int_equal(count_jobs(b.docs, b.n), 20);
    deliver(f, &b);
    while (next(f, &b))
        deliver(f, &b);
    assert_int_equal(document_table_count(f->table), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_both_lines_have_documents_each_has_its_share_of_any_few),
        CASE(behind_a_backlog_a_job_has_its_share_of_what_is_read_and_sent),
        CASE(nothing_is_owed_for_when_only_one_line_had_documents),
        CASE(what_a_job_asks_for_as_well_waits_no_longer_than_the_job),
        CASE(what_was_read_before_a_job_asked_for_it_goes_first_to_be_read_again),
        CASE(with_other_lanes_what_waits_keeps_its_lines),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
