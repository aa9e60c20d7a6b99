#include "config.h"

#include "tests/unit/unit.h"

#include "sync/source/transport/transport.h"

static void what_servers_say_has_a_reason(void **state)
{
    static const struct {
        unsigned number;
        const char *text;
        enum transport_reason reason;
    } cases[] = {
        {1236, "Could not find first log file name in binary log index file", TRANSPORT_PURGED},
        {1236, "could not find next log; the first event 'b.000001' at 4", TRANSPORT_PURGED},
        {1236,
         "Cannot replicate because the source purged required binary logs. Replicate the "
         "missing "
         "transactions from elsewhere, or provision a new replica from backup.",
         TRANSPORT_GTID_PURGED},
        {1236,
         "The slave is connecting using CHANGE MASTER TO MASTER_AUTO_POSITION = 1, but the "
         "master "
         "has purged binary logs containing GTIDs that the slave requires.",
         TRANSPORT_GTID_PURGED},
        {1236, "Could not find GTID state requested by slave in any binlog files. Probably...",
         TRANSPORT_GTID_PURGED},
        {1236,
         "Error: connecting slave requested to start from GTID 0-1-9, which is not in the "
         "master's binlog",
         TRANSPORT_DIVERGED},
        {1236, "Replica has more GTIDs than the source has, using the source's SERVER_UUID.",
         TRANSPORT_DIVERGED},
        {1236, "Slave has more GTIDs than the master has", TRANSPORT_DIVERGED},
        {1236,
         "A replica with the same server_uuid/server_id as this replica has connected to the "
         "source; the first event ...",
         TRANSPORT_DUPLICATE_ID},
        {4052, "A slave with the same server_uuid/server_id as this slave has connected",
         TRANSPORT_DUPLICATE_ID},
        {1236, "Client requested source to start replication from position > file size",
         TRANSPORT_BEYOND},
        {1236,
         "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on source",
         TRANSPORT_BEYOND},
        {1236, "bogus data in log event; the first event ...", TRANSPORT_BEYOND},
        {1236, "event read from binlog did not pass crc check; the first event",
         TRANSPORT_DAMAGED},
        {1236, "Binary log is not open", TRANSPORT_NO_BINLOG},
        {1227, "Access denied; you need the REPLICATION SLAVE privilege", TRANSPORT_PRIVILEGE},
        {1236, "something new", TRANSPORT_REFUSED},
        {9999, "something new", TRANSPORT_REFUSED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (transport_classify(cases[i].number, cases[i].text) != cases[i].reason)
            fail_msg("%s", cases[i].text);
}

static void an_error_carries_its_reason_through_every_wrapping(void **state)
{
    struct err err;

    (void)state;
    assert_false(transport_fail(&err, TRANSPORT_PURGED, "file %s is gone", "b.000001"));
    assert_false(err_wrap(&err, "topic shop"));
    assert_int_equal(err.kind, ERR_FATAL);
    assert_int_equal(transport_reason_of(&err), TRANSPORT_PURGED);
    assert_string_equal(transport_reason_name(transport_reason_of(&err)), "purged");
    assert_string_equal(err.msg, "topic shop: file b.000001 is gone");
    err_set(&err, ERR_RETRY, "something else");
    assert_int_equal(transport_reason_of(&err), TRANSPORT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_servers_say_has_a_reason),
        cmocka_unit_test(an_error_carries_its_reason_through_every_wrapping),
    };
    return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
