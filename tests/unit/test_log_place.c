#include "config.h"

#include "tests/unit/unit.h"

#include "sync/change/log_place.h"
#include "sync/decode/transaction.h"
#include "sync/source/transport/transport.h"

#include <string.h>

#define EPOCH 3

/* A GTID event's bytes: its header, a body, and a checksum of four bytes. */
static struct str gtid_event(const char *checksum)
{
    static char raw[EVENT_HEADER_LEN + 8 + 4];

    memset(raw, 'h', sizeof(raw));
    memcpy(raw + sizeof(raw) - 4, checksum, 4);
    return (struct str){raw, sizeof(raw)};
}

static struct step step_at(enum step_kind kind, uint64_t start, uint64_t end)
{
    return (struct step){.kind = kind,
                         .event = {.type = kind == STEP_BEGIN ? EVENT_MARIADB_GTID : EVENT_XID,
                                   .file = STR("bin.000007"),
                                   .start = start,
                                   .end = end,
                                   .time = 5}};
}

static bool meet(struct log_place *p, const struct step *step, const char *checksum,
                 struct err *err)
{
    uint64_t version;

    return log_place_enter(p, &step->event, EPOCH, &version, err) &&
           log_place_check(p, step, gtid_event(checksum), err);
}

/* A transaction from 100 to 300 was the last that was read; a new dump begins with it. */
static void begin_again(struct log_place *p)
{
    const struct step begin = step_at(STEP_BEGIN, 100, 140),
                      end = step_at(STEP_COMMIT, 260, 300);
    struct err err = {0};

    *p = (struct log_place){0};
    log_place_begin(p, false);
    assert_true(meet(p, &begin, "sum1", &err) && meet(p, &end, "sum2", &err));
    log_place_end(p, &end);
    assert_int_equal(p->position.offset, 300);
    assert_int_equal(p->position.gtid_start, 100);
    assert_string_equal(p->position_file, "bin.000007");

    const struct commit_position known = p->position;

    log_place_begin(p, false);
    log_place_expect(p, &known);
}

static void the_known_transaction_is_met_once_and_no_other_is_expected(void **state)
{
    const struct step same = step_at(STEP_BEGIN, 100, 140),
                      next = step_at(STEP_BEGIN, 300, 340);
    struct log_place p;
    struct err err = {0};

    (void)state;
    begin_again(&p);
    assert_true(meet(&p, &same, "sum1", &err));
    assert_true(meet(&p, &next, "sum3", &err));
}

static void another_transaction_at_the_known_place_is_another_log(void **state)
{
    const struct step same = step_at(STEP_BEGIN, 100, 140),
                      moved = step_at(STEP_BEGIN, 104, 140);
    struct log_place p;
    struct err err = {0};

    (void)state;
    begin_again(&p);
    assert_false(meet(&p, &same, "sumX", &err));
    assert_non_null(strstr(err.msg, "has another transaction"));
    begin_again(&p);
    assert_false(meet(&p, &moved, "sum1", &err));
}

static void the_middle_of_a_transaction_at_the_known_place_is_another_log(void **state)
{
    const enum step_kind kinds[] = {STEP_ROWS,   STEP_ROWS_UNWANTED, STEP_STATEMENT,
                                    STEP_COMMIT, STEP_ROLLBACK,      STEP_XA_PREPARE};
    const struct step format = step_at(STEP_FORMAT, 4, 0);
    struct log_place p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct step inside = step_at(kinds[i], 100, 140);
        struct err err = {0};

        begin_again(&p);
        assert_true(meet(&p, &format, "sum0", &err));
        assert_false(meet(&p, &inside, "sum1", &err));
        assert_non_null(strstr(err.msg, "has another transaction"));
    }
}

static void
damage_before_the_known_transaction_is_another_log_and_damage_behind_it_is_not(void **state)
{
    const struct step same = step_at(STEP_BEGIN, 100, 140);
    struct log_place p;
    struct err err = {0}, away = {0};

    (void)state;
    begin_again(&p);
    err_set(&away, ERR_RETRY, "the server is away");
    log_place_explain(&p, &away);
    assert_string_equal(away.msg, "the server is away");
    err_set(&err, ERR_FATAL, "damaged");
    log_place_explain(&p, &err);
    assert_non_null(strstr(err.msg, "no transaction begins (damaged)"));
    assert_true(meet(&p, &same, "sum1", &err));
    err_set(&err, ERR_FATAL, "damaged");
    log_place_explain(&p, &err);
    assert_string_equal(err.msg, "damaged");
}

static void a_file_is_a_place_only_between_transactions(void **state)
{
    const struct step format = step_at(STEP_FORMAT, 4, 256),
                      begin = step_at(STEP_BEGIN, 300, 340);
    struct log_place p = {0};
    struct err err = {0};

    (void)state;
    log_place_begin(&p, true);
    assert_false(log_place_opens_file(&p, &format)); /* GTIDs of it may be left out */
    log_place_begin(&p, false);
    assert_true(log_place_opens_file(&p, &format));
    assert_true(meet(&p, &begin, "sum1", &err));
    assert_false(log_place_opens_file(&p, &format));
    log_place_end(&p, &begin);
    assert_true(log_place_opens_file(&p, &format));
}

static void what_versions_cannot_hold_is_refused(void **state)
{
    struct step step = step_at(STEP_BEGIN, 4, 100);
    struct log_place p = {0};
    struct err err = {0};
    uint64_t version;

    (void)state;
    assert_true(log_place_enter(&p, &step.event, EPOCH, &version, &err));
    assert_true(version == ((uint64_t)EPOCH << 53 | UINT64_C(7) << 33 | 100));
    step.event.end = UINT64_C(1) << 33;
    assert_false(log_place_enter(&p, &step.event, EPOCH, &version, &err));
    step.event.end = 100;
    step.event.file = STR("bin.index");
    assert_false(log_place_enter(&p, &step.event, EPOCH, &version, &err));
    assert_string_equal(p.file, "bin.000007");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_known_transaction_is_met_once_and_no_other_is_expected),
        cmocka_unit_test(another_transaction_at_the_known_place_is_another_log),
        cmocka_unit_test(the_middle_of_a_transaction_at_the_known_place_is_another_log),
        cmocka_unit_test(
            damage_before_the_known_transaction_is_another_log_and_damage_behind_it_is_not),
        cmocka_unit_test(a_file_is_a_place_only_between_transactions),
        cmocka_unit_test(what_versions_cannot_hold_is_refused),
    };

    return cmocka_run_group_tests_name("log_place", tests, NULL, NULL);
}
