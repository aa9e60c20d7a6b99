#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/net/aws_credentials.h"
#include "src/net/sigv4.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY(id) "aws_access_key_id = " id "\naws_secret_access_key=tiger\n"

static char path[] = "/tmp/test_renewed_key_XXXXXX";
static const struct sigv4_key place = {.region = "eu-central-1", .service = "es"};

/* As one who renews it should: no reader sees half of it. */
static void renew(const char *text)
{
    char other[sizeof(path) + 4];

    snprintf(other, sizeof(other), "%s.new", path);

    const int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    assert_int_equal(rename(other, path), 0);
}

static void check(struct aws_credentials *k, const char *id, const char *token)
{
    struct sigv4_key *key = aws_credentials_get(k);

    assert_non_null(key);
    assert_string_equal(key->id, id);
    assert_string_equal(key->secret, "tiger");
    assert_string_equal(key->region, "eu-central-1");
    assert_string_equal(key->service, "es");
    if (token == NULL)
        assert_null(key->token);
    else
        assert_string_equal(key->token, token);
    free(key);
}

static void it_is_that_of_the_default_section(void **state)
{
    static const char *const files[] = {
        KEY("AKONE"),
        "[default]\r\n" KEY("AKONE") "[other]\n" KEY("AKTWO") "aws_session_token = x\n",
        "[other]\n" KEY("AKTWO") "aws_session_token = x\n\n[default]\n" KEY("AKONE"),
        "# aws_session_token = x\n; a note = y\n" KEY("AKONE") "region = us-east-1\nwhat",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct aws_credentials *k = aws_credentials_new(path, &place);

        renew(files[i]);
        check(k, "AKONE", NULL);
        aws_credentials_free(k);
    }
}

static void a_new_one_counts_from_the_next_request_on(void **state)
{
    struct aws_credentials *k = aws_credentials_new(path, &place);

    (void)state;
    renew(KEY("AKONE") "aws_session_token=first==\n");
    check(k, "AKONE", "first==");
    check(k, "AKONE", "first==");
    renew(KEY("AKTWO") "aws_session_token=other==\n");
    check(k, "AKTWO", "other==");
    aws_credentials_free(k);
}

static void while_there_is_none_the_one_before_counts(void **state)
{
    struct aws_credentials *k = aws_credentials_new(path, &place);

    (void)state;
    renew("");
    assert_null(aws_credentials_get(k));
    renew(KEY("AKONE"));
    check(k, "AKONE", NULL);
    renew("aws_access_key_id = AKTWO\n");
    check(k, "AKONE", NULL);
    assert_int_equal(unlink(path), 0);
    check(k, "AKONE", NULL);
    renew(KEY("AKTWO"));
    check(k, "AKTWO", NULL);
    aws_credentials_free(k);
}

static void what_a_file_lacks_is_named_and_no_secret(void **state)
{
    struct err err = {0};

    (void)state;
    assert_false(aws_credentials_check("/nowhere/credentials", &err));
    assert_non_null(strstr(err.msg, "/nowhere/credentials: No such file"));
    renew("[default]\naws_secret_access_key=tiger\n");
    assert_false(aws_credentials_check(path, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "has no aws_access_key_id in [default]"));
    assert_null(strstr(err.msg, "tiger"));
    renew("[default]\naws_access_key_id=AK\naws_secret_access_key=\n");
    assert_false(aws_credentials_check(path, &err));
    assert_non_null(strstr(err.msg, "has no aws_secret_access_key"));
    renew(KEY("AK"));
    assert_true(aws_credentials_check(path, &err));
}

static int make_file(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    log_set_level(LOG_ERROR);
    return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_the_default_section),
        cmocka_unit_test(a_new_one_counts_from_the_next_request_on),
        cmocka_unit_test(while_there_is_none_the_one_before_counts),
        cmocka_unit_test(what_a_file_lacks_is_named_and_no_secret),
    };

    return cmocka_run_group_tests_name("aws_credentials", tests, make_file, remove_file);
}
