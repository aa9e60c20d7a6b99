#include "config.h"

#include "src/config/setting.h"
#include "src/config/settings.h"

#define RANGE(min_, max_) .min = (min_), .max = (max_)
#define SECRET            .secret = true
#define SECRET_FILE       .secret_file = true
#define AT_RUN_TIME       .changes = CHANGES_AT_RUN_TIME
#define AT_RELOAD         .changes = CHANGES_AT_RELOAD

/* clang-format off */
/* ROW(kind, name, field of struct settings, default as written, the rest...) */
#define ROW(kind_, name_, field_, preset_, ...)                                     \
    {.kind = SETTING_##kind_, .name = (name_), .preset = (preset_),                  \
     .offset = offsetof(struct settings, field_),                                    \
     .size = sizeof(((struct settings *)0)->field_),                                 \
     .form = _Generic(((struct settings *)0)->field_, const char *: FIELD_TEXT,      \
                      struct setting_texts: FIELD_TEXTS, default: FIELD_NUMBER),     \
     __VA_ARGS__}

const struct setting settings[] = {
    ROW(TEXT, "listen", listen, "127.0.0.1:7700",
        .help = "Address and port of the page, the API, /metrics, /livez and /readyz; "
                "`off`: none. An address that other machines reach needs web_tls.cert_file and "
                "web_tls.key_file, and answers nobody until somebody has the role admin "
                "(docs/access.md)."),
    ROW(TEXT, "metrics.listen", metrics_listen, "off",
        .help = "Address and port of a second listener that serves /metrics, /livez and "
                "/readyz and nothing else. It may be any address of this machine, such as "
                "0.0.0.0:7701, so that a remote Prometheus and the probes of an orchestrator "
                "reach it; `off`: none."),
    ROW(LIST, "web.hosts", web_hosts, NULL,
        .help = "Names by which people reach the page from other machines or through a reverse "
                "proxy, such as search-admin.example.org, that stand in Host. Without it only "
                "localhost, loopback addresses and the address of `listen` are answered."),
    ROW(TEXT, "web.prefix", web_prefix, NULL,
        .help = "Path below which the port serves everything, such as /millrace, for a reverse "
                "proxy that shares its host with others and passes the path on unchanged. "
                "/livez, /readyz and /metrics are also served without it."),
    ROW(BOOL, "web.read_only", web_read_only, "false",
        .help = "The port refuses every change, whoever asks; the unix socket takes changes as "
                "always."),
    ROW(TEXT, "words.listen", words_listen, "off",
        .help = "Address and port of a listener that serves the published words of the IK "
                "analyzer and nothing else (docs/words.md). It may be any address of this "
                "machine, such as 0.0.0.0:7702; `off`: none."),
    ROW(TEXT, "words.token", words_token, NULL, SECRET,
        .help = "What stands in the path of the words, http://HOST:PORT/words/TOKEN/ext.dic: "
                "16 to 200 letters, digits, - and _; prefer words.token_file. All nodes need "
                "the same."),
    ROW(PATH, "words.token_file", words_token_file, NULL, SECRET_FILE,
        .help = "File with that token."),
    ROW(LIST, "words.allow", words_allow, NULL,
        .help = "Addresses and networks (10.0.0.7, 10.0.0.0/8) that may have the words; "
                "without any, this machine alone."),
    ROW(LIST, "alarms.url", alarms_urls, NULL, SECRET,
        .help = "Where Millrace posts alarms, as JSON: the address of a web hook, one or a "
                "list of up to 10 (docs/operations.md). Without it Millrace sends none."),
    ROW(PATH, "alarms.url_file", alarms_url_file, NULL, SECRET_FILE,
        .help = "File with one such address, instead of alarms.url: the addresses of many "
                "chats are secrets."),
    ROW(TEXT, "alarms.secret", alarms_secret, NULL, SECRET,
        .help = "Secret that signs what is posted (HMAC-SHA-256), 16 bytes or more; prefer "
                "alarms.secret_file."),
    ROW(PATH, "alarms.secret_file", alarms_secret_file, NULL, SECRET_FILE,
        .help = "File with that secret."),
    ROW(PATH, "alarms.ca_file", alarms_ca_file, NULL,
        .help = "Authority that signed the receivers' certificates (the system's)."),
    ROW(DURATION, "alarms.after", alarms_after_ms, "1m", RANGE(100, 86400000),
        .help = "How long a failure lasts before its alarm begins, and is gone before the "
                "alarm is over."),
    ROW(DURATION, "alarms.after_warning", alarms_after_warning_ms, "10m", RANGE(100, 86400000),
        .help = "How long a warning lasts before its alarm begins."),
    ROW(DURATION, "alarms.repeat", alarms_repeat_ms, "4h", RANGE(1000, 2592000000),
        .help = "How often an alarm is repeated while it lasts."),
    ROW(BOOL, "alarms.allow_private", alarms_allow_private, "false",
        .help = "Whether receivers may have addresses that are not public: of this machine, of "
                "its network. It also allows http."),
    ROW(BOOL, "alarms.allow_http", alarms_allow_http, "false",
        .help = "Whether receivers may be reached by http, in clear text."),
    ROW(PATH, "data", data, "/var/lib/millrace",
        .help = "Folder of the store, the socket and spilled rows."),
    ROW(PATH, "socket", socket, NULL,
        .help = "Unix socket of the API that the commands use (data/millrace.sock)."),
    ROW(TEXT, "store", store, "sqlite",
        .help = "sqlite, or mysql://user@host:port/database, a database that one daemon "
                "has for itself, or several with one coordination."),
    ROW(PATH, "store_password_file", store_password_file, NULL, SECRET_FILE,
        .help = "File with the password of store: mysql://"),
    ROW(PATH, "secret_file", secret_file, NULL, SECRET_FILE,
        .help = "Key that seals the passwords of definitions in the store (data/secret.key, "
                "created if missing). Daemons that share a store must share this key."),
    ROW(PATH, "store_tls.ca_file", store_tls.ca_file, NULL,
        .help = "Authority that signed the store server's certificate."),
    ROW(PATH, "store_tls.cert_file", store_tls.cert_file, NULL,
        .help = "Our certificate for the store server."),
    ROW(PATH, "store_tls.key_file", store_tls.key_file, NULL, .help = "Its key."),
    ROW(PATH, "store_public_key_file", store_public_key_file, NULL,
        .help = "The store server's RSA key (PEM), for caching_sha2_password without TLS."),
    ROW(BOOL, "store_tls.verify", store_tls.verify, "true",
        .help = "Check the store server's certificate and name. Any store_tls setting turns "
                "TLS on; with this one alone, the system's authorities apply."),
    ROW(TEXT, "coordination", coordination, "embedded",
        .help = "embedded: this daemon has its store alone. zookeeper://host:port,.../path: "
                "several daemons with one store (mysql://) share the topics "
                "(docs/cluster.md)."),
    ROW(TEXT, "node_name", node_name, NULL,
        .help = "Name of this daemon in its cluster, for people (the name of its machine)."),
    ROW(PATH, "coordination_auth_file", coordination_auth_file, NULL, SECRET_FILE,
        .help = "File with the log-in at ZooKeeper, `user:password`. Without it, whoever "
                "reaches ZooKeeper can change what the daemons read there."),
    ROW(DURATION, "coordination_timeout", coordination_timeout_ms, "10s", RANGE(2000, 120000),
        .help = "A daemon that ZooKeeper has not heard of for so long is replaced."),
    ROW(PATH, "coordination_tls.ca_file", coordination_tls.ca_file, NULL,
        .help = "Authority of the ZooKeeper servers."),
    ROW(PATH, "coordination_tls.cert_file", coordination_tls.cert_file, NULL,
        .help = "Our certificate for ZooKeeper."),
    ROW(PATH, "coordination_tls.key_file", coordination_tls.key_file, NULL,
        .help = "Its key."),
    ROW(PATH, "web_tls.cert_file", web_tls.cert_file, NULL, AT_RELOAD,
        .help = "Certificate of `listen` in PEM, followed by those of its authorities; with "
                "it, the port speaks TLS alone. Millrace reads the file again on SIGHUP, for "
                "connections that come then. Whether there is TLS changes at the start only."),
    ROW(PATH, "web_tls.key_file", web_tls.key_file, NULL, SECRET_FILE, AT_RELOAD,
        .help = "Its private key in PEM, without a password; read again in the same way."),
    ROW(CHOICE, "web_tls.min_version", web_tls_min_version, "1.2", .choices = "1.2 1.3",
        AT_RELOAD, .help = "Oldest version of TLS that the port speaks."),
    ROW(LIST, "search.url", search.urls, "http://127.0.0.1:9200",
        .help = "Addresses of the search engine, one or a list."),
    ROW(TEXT, "search.user", search.user, NULL, .help = "User for basic authentication."),
    ROW(TEXT, "search.password", search.password, NULL, SECRET,
        .help = "Its password; prefer search.password_file."),
    ROW(PATH, "search.password_file", search.password_file, NULL, SECRET_FILE,
        .help = "File with the password."),
    ROW(TEXT, "search.password_env", search.password_env, NULL,
        .help = "Environment variable with the password."),
    ROW(PATH, "search.api_key_file", search.api_key_file, NULL, SECRET_FILE,
        .help = "File with an API key (Authorization: ApiKey ...)."),
    ROW(TEXT, "search.api_key_env", search.api_key_env, NULL,
        .help = "Environment variable with an API key."),
    ROW(TEXT, "search.aws_region", search.aws_region, NULL,
        .help = "Region of an engine at AWS; Millrace signs its requests (signature version "
                "4)."),
    ROW(CHOICE, "search.aws_service", search.aws_service, "es", .choices = "es aoss",
        .help = "Kind of engine at AWS: es, a domain of the service; aoss, a serverless "
                "collection."),
    ROW(TEXT, "search.aws_key_id", search.aws_key_id, NULL,
        .help = "Access key to sign with. Without it, Millrace uses AWS_ACCESS_KEY_ID, "
                "AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN from the environment."),
    ROW(PATH, "search.aws_credentials_file", search.aws_credentials_file, NULL, SECRET_FILE,
        .help = "File with the key and its session token, as the AWS tools write it. "
                "Millrace reads it again when it changes."),
    ROW(TEXT, "search.aws_secret", search.aws_secret, NULL, SECRET,
        .help = "Secret of the access key; prefer search.aws_secret_file."),
    ROW(PATH, "search.aws_secret_file", search.aws_secret_file, NULL, SECRET_FILE,
        .help = "File with the secret of the access key."),
    ROW(TEXT, "search.aws_secret_env", search.aws_secret_env, NULL,
        .help = "Environment variable with the secret of the access key."),
    ROW(PATH, "search.aws_session_token_file", search.aws_session_token_file, NULL, SECRET_FILE,
        .help = "File with the session token of the access key, if it has one."),
    ROW(TEXT, "search.aws_session_token_env", search.aws_session_token_env, NULL,
        .help = "Environment variable with the session token of the access key."),
    ROW(PATH, "search.ca_file", search.tls.ca_file, NULL,
        .help = "Authority that signed the engine's certificate."),
    ROW(PATH, "search.cert_file", search.tls.cert_file, NULL,
        .help = "Our certificate for the engine."),
    ROW(PATH, "search.key_file", search.tls.key_file, NULL, .help = "Its key."),
    ROW(BOOL, "search.verify", search.tls.verify, "true",
        .help = "Check the engine's certificate and name."),
    ROW(BOOL, "search.compress", search.compress, "false",
        .help = "Compress bulk requests with gzip: for engines behind a slow line."),
    ROW(DURATION, "search.timeout", search.timeout_ms, "30s", RANGE(100, 3600000),
        .help = "Timeout of all requests except bulk requests."),
    ROW(BOOL, "search.sniff", search.sniff, "false",
        .help = "Ask the engine for its nodes, and use their addresses; search.url is then "
                "only the fallback."),
    ROW(LIST, "search.sniff_hosts", search.sniff_hosts, NULL,
        .help = "Permitted hosts among those that the engine reports, such as "
                "search-*.example.org. Required with a login, unless search.ca_file vouches "
                "for each node."),
    ROW(DURATION, "search.sniff_interval", search.sniff_interval_ms, "5m",
        RANGE(1000, 86400000),
        .help = "How often Millrace asks for the nodes; it also asks right after a node "
                "failed."),
    ROW(DURATION, "search.check_every", search.check_every_ms, "30s", RANGE(100, 86400000),
        .help = "How often Millrace compares the engine's indexes and aliases with the "
                "store; it also does so after each build and when the engine is back."),
    ROW(COUNT, "delivery.workers", delivery.workers, "10", RANGE(1, 1000), AT_RUN_TIME,
        .help = "Queues that documents are spread over."),
    ROW(COUNT, "delivery.helpers", delivery.helpers, "10", RANGE(1, 1000), AT_RUN_TIME,
        .help = "Maximum number of concurrent bulk requests."),
    ROW(COUNT, "delivery.batch_min", delivery.batch_min, "1", RANGE(1, 1000000), AT_RUN_TIME,
        .help = "A batch with fewer documents waits for the flush interval."),
    ROW(COUNT_OR_AUTO, "delivery.batch_max", delivery.batch_max, "auto", RANGE(0, 1000000),
        AT_RUN_TIME,
        .help = "Maximum number of documents in a batch: auto (by bytes), or a number."),
    ROW(SIZE, "delivery.batch_bytes", delivery.batch_bytes, "8MiB", RANGE(65536, 104857600),
        AT_RUN_TIME, .help = "Maximum size of a bulk request."),
    ROW(DURATION, "delivery.flush_interval", delivery.flush_ms, "1s", RANGE(1, 3600000),
        AT_RUN_TIME, .help = "How long a batch with fewer than batch_min documents waits."),
    ROW(DURATION, "delivery.request_timeout", delivery.request_timeout_ms, "60s",
        RANGE(100, 3600000), AT_RUN_TIME,
        .help = "A bulk request without an answer after this time has an unknown result; "
                "Millrace repeats it."),
    ROW(SIZE, "delivery.bytes", delivery.bytes_max, "64MiB", RANGE(1048576, 17179869184),
        AT_RUN_TIME, .help = "Memory for documents; when it is full, the source waits."),
    ROW(COUNT, "delivery.load_batch", delivery.load_batch_max, "500", RANGE(1, 10000),
        AT_RUN_TIME,
        .help = "Maximum number of documents that one set of statements reads again; fewer if "
                "they are large."),
    ROW(COUNT, "delivery.loads", delivery.loads_max, "2", RANGE(1, 8), AT_RUN_TIME,
        .help = "Concurrent sets of statements for each topic, and as many again for "
                "documents that show tables of other topics."),
    ROW(DURATION, "delivery.read_window", delivery.read_window_ms, "200ms", RANGE(0, 10000),
        AT_RUN_TIME,
        .help = "While Millrace reads many documents again, each set of statements starts "
                "this long after the previous one, so that more documents share it; up to "
                "five times as long while fewer than 300 wait. A single change never waits."),
    ROW(COUNT, "delivery.fan_out_share", delivery.fan_out_share, "20", RANGE(1, 90),
        AT_RUN_TIME,
        .help = "While a topic is behind, at least this many of 100 documents that it writes "
                "come from changed rows that lead to very many documents. Otherwise those "
                "rows take whatever capacity is left."),
    ROW(CHOICE, "delivery.builds", delivery.builds, "polite", .choices = "polite greedy",
        AT_RUN_TIME,
        .help = "Who waits while an index is built, a row changes in very many documents, or "
                "dead letters and purged changes are written again. polite: Millrace sends as "
                "much at a time as lets other writes to the engine wait some 10 ms longer, and "
                "as much as it can while the engine says that nobody else writes. "
                "greedy: it sends as much as it can, and other writes wait for it."),
    ROW(COUNT, "delivery.high_water_mark", delivery.high_water_mark, "10000",
        RANGE(0, 1000000000), AT_RUN_TIME,
        .help = "Changes that a worker queues before callers wait; 0: each caller waits "
                "until its own changes are written."),
    ROW(COUNT, "delivery.failures", delivery.failures, "3",
        RANGE(1, DELIVERY_FAILURES_MAX), AT_RUN_TIME,
        .help = "Number of failed requests that blows the fuse of an index: Millrace then "
                "sends nothing to it for a while."),
    ROW(DURATION, "delivery.failure_window", delivery.failure_window_ms, "5s",
        RANGE(1, 3600000), AT_RUN_TIME,
        .help = "The failures count if they happen within this time, or in a row without a "
                "successful request in between."),
    ROW(DURATION, "delivery.reset_after", delivery.reset_after_ms, "30s", RANGE(1, 86400000),
        AT_RUN_TIME, .help = "Time until Millrace tries a blown fuse again, with one request."),
    ROW(CHOICE, "delivery.purge", delivery.purge, "purge_one",
        .choices = "purge_one purge_index purge_all off", AT_RUN_TIME,
        .help = "What Millrace purges when an index with a blown fuse fills the queues."),
    ROW(BOOL, "delivery.drain", delivery.drain, "true", AT_RUN_TIME,
        .help = "Deliver what is queued before stopping; otherwise Millrace reads it again "
                "after the start."),
    ROW(DURATION, "delivery.drain_timeout", delivery.drain_timeout_ms, "60s", RANGE(0, 3600000),
        AT_RUN_TIME,
        .help = "How long Millrace may take to deliver what is queued when it stops; also "
                "the default of `millrace drain`. 0: wait only for requests in flight."),
    ROW(DURATION, "delivery.drain_cancel_timeout", delivery.drain_cancel_timeout_ms, "5s",
        RANGE(0, 3600000), AT_RUN_TIME,
        .help = "How long to wait for requests in flight after the drain timed out."),
    ROW(COUNT, "delivery.connections", delivery.connections, "100", RANGE(1, 10000),
        AT_RUN_TIME,
        .help = "Maximum number of connections to the engine for delivery, and so of "
                "concurrent requests."),
    ROW(COUNT, "dead_letters.max", dead_letters_max, "100000", RANGE(1, 100000000),
        .help = "Maximum number of dead letters. When it is reached, Millrace holds an index "
                "whose documents are refused, so that none is lost."),
    ROW(DURATION, "dead_letters.old_after", dead_letters_old_after_ms, "168h",
        RANGE(1000, 86400000000),
        .help = "Age at which Millrace warns of a dead letter that nobody has dealt with "
                "(log, doctor)."),
    ROW(COUNT, "index.keep_versions", index_keep_versions, "0", RANGE(0, 10),
        .help = "How many older versions of each index stay current beside the newest, for "
                "`millrace index rollback`. Each costs its space and every write once more."),
    ROW(DURATION, "index.keep_for", index_keep_for_ms, "24h", RANGE(1000, 31536000000),
        .help = "How long an older version stays current after another one has replaced it."),
    ROW(BOOL, "index.trees", index_trees, "true",
        .help = "Whether Millrace keeps a hash of each document of both sides in its data "
                "folder (32 bytes a side), compares these every `index.exchange_every`, and "
                "repairs what differs. A comparison of the whole index makes them first, a few "
                "seconds after a build."),
    ROW(DURATION, "index.exchange_every", index_exchange_every_ms, "1h",
        RANGE(1000, 31536000000),
        .help = "How long after Millrace has compared the hashes of `index.trees` it compares "
                "them again."),
    ROW(CHOICE, "index.verify_builds", index_verify_builds, "sample",
        .choices = "sample full none",
        .help = "What a build compares with its rows before searches see it: a sample, all "
                "documents, or none (`millrace index create --verify`)."),
    ROW(DURATION_OR_NEVER, "index.retire_after", index_retire_after_ms, "never",
        RANGE(0, 31536000000),
        .help = "How long after Millrace has stopped writing to an index (its definition is "
                "gone, or another version has replaced it) Millrace deletes it, unless an "
                "alias still leads to it; `never`: only by hand."),
    ROW(DURATION_OR_NEVER, "index.verify_every", index_verify_every_ms, "168h",
        RANGE(0, 31536000000),
        .help = "How long after the last comparison of a whole index (or its build, if that is "
                "later) Millrace compares it again and repairs what differs, as `millrace "
                "verify --repair` does; up to a quarter earlier, so that indexes take turns. "
                "`never`: Millrace compares an index only if a person asks, or to make missing "
                "trees (`index.trees`)."),
    ROW(COUNT, "index.verify_rate", index_verify_rate, "1000", RANGE(0, 1000000000),
        .help = "How many rows and documents per second such a comparison reads; 0: no limit."),
    ROW(DURATION_OR_NEVER, "index.verify_within", index_verify_within_ms, "never",
        RANGE(0, 31536000000),
        .help = "How long after the last comparison of a whole index with its rows, whoever "
                "ordered it (or its build, if that is later), status and doctor warn; `never`: "
                "they do not."),
    ROW(DURATION_OR_NEVER, "check.expect_every", check_expect_every_ms, "never",
        RANGE(0, 31536000000),
        .help = "How long after the last good `millrace check` of a table that has a "
                "`daily_check_column` (or its build, if that is later) status and "
                "doctor warn; `never`: they do not. For a daily timer 26h is right."),
    ROW(DURATION_OR_NEVER, "delayed.expect_every", delayed_expect_every_ms, "never",
        RANGE(0, 31536000000),
        .help = "The same of the last good `millrace delayed run` of a delayed table."),
    ROW(DURATION_OR_NEVER, "replay.expect_every", replay_expect_every_ms, "never",
        RANGE(0, 31536000000),
        .help = "The same of the last good `millrace replay` of a table."),
    ROW(SIZE, "source.event_max", source_event_max, "64MiB", RANGE(1048576, 1073741824),
        .help = "Largest binlog event with rows. A larger one stops its table, if Millrace "
                "follows that table."),
    ROW(CHOICE, "log.level", log_level, "info", .choices = "debug info warn error", AT_RELOAD,
        .help = "Lowest level that is logged."),
    ROW(CHOICE, "log.format", log_format, "auto", .choices = "auto text json", AT_RELOAD,
        .help = "Form of the log's lines: json, an object a line; text, for people; auto, text "
                "on a terminal and json elsewhere. Colours need a terminal, and no NO_COLOR in "
                "the environment."),
};
/* clang-format on */
const size_t n_settings = ARRAY_LEN(settings);
