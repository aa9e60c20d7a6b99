#include "config.h"

#include "src/cli/example.h"

#include <string.h>

static const struct {
    const char *command, *line;
} examples[] = {
    {"run", "run --config /etc/millrace/millrace.yaml"},
    {"init", "init mysql://millrace@db.example/shop --password-file shop.password"},
    {"apply", "apply --dry-run shop.yaml"},
    {"export", "export"},
    {"status", "status -o json"},
    {"doctor", "doctor"},
    {"explain", "explain shop.orders 42"},
    {"verify", "verify shop.orders --key 42 --repair"},
    {"report list", "report list"},
    {"report get", "report get 12"},
    {"mapping", "mapping shop.orders"},
    {"topic list", "topic list"},
    {"topic get", "topic get shop"},
    {"topic delete", "topic delete old_shop"},
    {"topic reset", "topic reset shop"},
    {"topic pause", "topic pause shop --reason 'the server moves'"},
    {"topic resume", "topic resume shop"},
    {"database list", "database list"},
    {"database get", "database get shop"},
    {"database delete", "database delete old_shop"},
    {"table list", "table list"},
    {"table get", "table get shop.orders"},
    {"table delete", "table delete shop.old_orders"},
    {"table columns generate", "table columns generate shop.orders"},
    {"relation list", "relation list shop.orders"},
    {"version list", "version list orders"},
    {"job list", "job list"},
    {"job get", "job get 7"},
    {"log list", "log list shop.orders"},
    {"index create", "index create shop.orders --rate 5000 --hold"},
    {"index list", "index list orders"},
    {"index set", "index set shop.orders --rate 0"},
    {"index cutover", "index cutover shop.orders --accept-dead-letters 3"},
    {"index pause", "index pause shop.orders --reason 'the cluster is upgraded'"},
    {"index resume", "index resume shop.orders"},
    {"index rollback", "index rollback shop.orders --to 3"},
    {"index reset", "index reset shop.orders"},
    {"index delete", "index delete shop.orders 3"},
    {"dead-letter list", "dead-letter list --table shop.orders"},
    {"dead-letter show", "dead-letter show 17"},
    {"dead-letter replay", "dead-letter replay --table shop.orders"},
    {"dead-letter discard", "dead-letter discard 17"},
    {"binlog decode", "binlog decode --table shop.* binlog.000042"},
    {"binlog inspect", "binlog inspect --topic shop"},
    {"drain", "drain --timeout 30"},
    {"config show", "config show --origin"},
    {"config delivery get", "config delivery get helpers"},
    {"config delivery set", "config delivery set helpers=4 batch_max=500"},
    {"version", "version"},
    {"help", "help index create"},
    {"completion", "completion bash"},
};

const char *command_example(const struct command *c)
{
    for (size_t i = 0; i < ARRAY_LEN(examples); i++)
        if (strcmp(examples[i].command, c->name) == 0)
            return examples[i].line;
    return NULL;
}
