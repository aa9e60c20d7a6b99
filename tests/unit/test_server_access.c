#include "config.h"

#include "tests/unit/unit.h"

#include "sync/definition/definition.h"
#include "sync/server/server_access.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/test_server_access_XXXXXX";

static struct server_access *access_to(const struct topic_definition *topic,
                                       const struct database_definition *database)
{
    struct server_access *a = NULL;
    struct err err = {0};

    assert_true(server_access_new(&a, topic, database, folder, &err));
    return a;
}

static void the_first_line_of_the_file_is_the_password(void **state)
{
    static const char text[] = "s3cret\nwritten by the installer\n";
    const struct topic_definition topic = {
        .server = {.address = STR("db1"), .password_file = STR("password")}};
    char path[sizeof(folder) + 16];

    (void)state;
    snprintf(path, sizeof(path), "%s/password", folder);

    const int fd = open(path, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);

    struct server_access *a = access_to(&topic, NULL);

    assert_string_equal(a->options.password, "s3cret");
    server_access_unref(a);
    assert_int_equal(unlink(path), 0);
}

static void an_address_is_a_host_with_or_without_port_or_a_socket(void **state)
{
    static const struct {
        struct str address;
        const char *host, *socket;
        unsigned port;
    } cases[] = {
        {STR("db1"), "db1", NULL, 3306},
        {STR("db1:3307"), "db1", NULL, 3307},
        {STR("[::1]"), "::1", NULL, 3306},
        {STR("[::1]:3307"), "::1", NULL, 3307},
        {STR("/run/mysqld.sock"), NULL, "/run/mysqld.sock", 3306},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct topic_definition topic = {.server = {.address = cases[i].address}};
        struct server_access *a = access_to(&topic, NULL);

        if (cases[i].host != NULL)
            assert_string_equal(a->options.host, cases[i].host);
        else
            assert_string_equal(a->options.socket, cases[i].socket);
        assert_int_equal(a->options.port, cases[i].port);
        server_access_unref(a);
    }
}

static void a_databases_server_takes_from_the_topic_what_it_does_not_say(void **state)
{
    const struct topic_definition topic = {
        .server = {.address = STR("db1"), .user = STR("millrace"), .password = STR("s3cret")}};
    const struct database_definition replica = {.own_server = true,
                                                .server = {.address = STR("db2")}};
    struct server_access *a = access_to(&topic, &replica);

    (void)state;
    assert_true(a->replica);
    assert_string_equal(a->options.host, "db2");
    assert_string_equal(a->options.user, "millrace");
    assert_string_equal(a->options.password, "s3cret");
    server_access_unref(a);
}

static void servers_are_equal_when_they_are_reached_in_the_same_way(void **state)
{
    const struct topic_definition topic = {
        .server = {.address = STR("db1"), .user = STR("millrace"), .password = STR("s3cret")}};
    const struct database_definition replica = {.own_server = true,
                                                .server = {.address = STR("db2")}},
                                     other = {.own_server = true,
                                              .server = {.user = STR("reader")}};
    struct server_access *a[] = {access_to(&topic, NULL), access_to(&topic, NULL),
                                 access_to(&topic, &replica), access_to(&topic, &other)};

    (void)state;
    assert_true(server_access_equal(a[0], a[1]));
    assert_false(server_access_equal(a[0], a[2]));
    assert_false(server_access_equal(a[0], a[3]));
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        server_access_unref(a[i]);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_of_the_file_is_the_password),
        cmocka_unit_test(an_address_is_a_host_with_or_without_port_or_a_socket),
        cmocka_unit_test(a_databases_server_takes_from_the_topic_what_it_does_not_say),
        cmocka_unit_test(servers_are_equal_when_they_are_reached_in_the_same_way),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
