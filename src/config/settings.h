/*
 * struct settings: the value of every setting, as the program uses it.
 *
 * Each field has one row in src/config/setting_table.c, with its name, what it takes and what
 * it is for.  NULL: not set and no default.
 *
 * Pure.
 */
#ifndef SRC_CONFIG_SETTINGS_H
#define SRC_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a list. */
struct setting_texts {
    const char *const *items;
    size_t n;
};

struct tls_settings {
    const char *ca_file, *cert_file, *key_file;
    bool verify;
};

struct search_settings {
    struct setting_texts urls, sniff_hosts;
    const char *user, *password, *password_file, *password_env;
    const char *api_key_file, *api_key_env;
    const char *aws_region, *aws_service, *aws_key_id, *aws_credentials_file;
    const char *aws_secret, *aws_secret_file, *aws_secret_env;
    const char *aws_session_token_file, *aws_session_token_env;
    struct tls_settings tls;
    bool compress, sniff;
    unsigned timeout_ms;
    int64_t sniff_interval_ms, check_every_ms;
};

/* In the order of the choices of delivery.purge in the table. */
enum purge_strategy {
    PURGE_ONE = 0, /* the oldest change of a random index that accepts nothing */
    PURGE_INDEX,   /* all changes of one such index, chosen at random */
    PURGE_ALL,     /* all changes of all such indexes */
    PURGE_OFF,     /* none: callers wait, and so does the source */
    N_PURGE_STRATEGIES,
};

/* In the order of the choices of delivery.builds in the table. */
enum builds_manner {
    BUILDS_POLITE =
        0,         /* other writes to the engine wait little (sync/delivery/index/guests.h) */
    BUILDS_GREEDY, /* builds take what the engine gives */
};

/*
 * What a build compares with its rows before searches see it. In the order of the choices of
 * index.verify_builds in the table.
 */
enum build_check {
    BUILD_CHECK_SAMPLE = 0, /* 1,000 documents and the newest rows */
    BUILD_CHECK_FULL,       /* all documents */
    BUILD_CHECK_NONE,
    N_BUILD_CHECKS,
};

/* The bound of `failures`: a fuse remembers that many of them. */
#define DELIVERY_FAILURES_MAX 100

/* All of these can change at run time. */
struct delivery_settings {
    unsigned workers, helpers;
    unsigned batch_min, batch_max; /* batch_max 0: limited by bytes alone */
    size_t batch_bytes, bytes_max, load_batch_max;
    unsigned loads_max;
    size_t high_water_mark; /* changes per worker; 0: each caller waits */
    unsigned flush_ms, request_timeout_ms, read_window_ms;
    unsigned fan_out_share; /* percent */
    unsigned failures, failure_window_ms, reset_after_ms;
    unsigned drain_timeout_ms, drain_cancel_timeout_ms;
    unsigned connections;
    enum purge_strategy purge;
    enum builds_manner builds;
    bool drain;
};

struct settings {
    const char *listen, *metrics_listen, *data, *socket;
    struct setting_texts web_hosts;
    const char *web_prefix, *web_tls_min_version;
    bool web_read_only;
    const char *words_listen, *words_token, *words_token_file;
    struct setting_texts words_allow;
    struct setting_texts alarms_urls;
    const char *alarms_url_file, *alarms_secret, *alarms_secret_file, *alarms_ca_file;
    bool alarms_allow_private, alarms_allow_http;
    int64_t alarms_after_ms, alarms_after_warning_ms, alarms_repeat_ms;
    const char *store, *store_password_file, *store_public_key_file, *secret_file;
    const char *coordination, *coordination_auth_file;
    const char *node_name;
    unsigned coordination_timeout_ms;
    struct tls_settings store_tls, coordination_tls, web_tls;
    struct search_settings search;
    struct delivery_settings delivery;
    size_t dead_letters_max;
    int64_t dead_letters_old_after_ms;
    int64_t index_retire_after_ms; /* 0: never */
    size_t index_keep_versions;
    int64_t index_keep_for_ms;
    int64_t index_verify_within_ms; /* 0: never */
    int64_t index_verify_every_ms;  /* 0: never */
    bool index_trees;
    int64_t index_exchange_every_ms;
    size_t index_verify_rate; /* rows and ids per second; 0: no limit */
    enum build_check index_verify_builds;
    int64_t check_expect_every_ms, delayed_expect_every_ms,
        replay_expect_every_ms; /* 0: never */
    size_t source_event_max;
    const char *log_level;
    const char *log_format; /* auto, text or json */
};

#endif
