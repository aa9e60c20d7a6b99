/*
 * The handlers of the commands; each source file has the handlers of one group.
 *
 * A handler gets a parsed command line and returns the exit code.  It prints results to
 * standard output and remarks to standard error.
 *
 * @thread main
 */
#ifndef SRC_CLI_COMMANDS_H
#define SRC_CLI_COMMANDS_H

#include "src/cli/command.h"

/* All of them: src/cli/table. Handlers find it in their invocation. */
extern const struct command_set commands;

int command_init(const struct invocation *inv);
int command_run(const struct invocation *inv);

int command_apply(const struct invocation *inv);
int command_export(const struct invocation *inv);

int command_definition_add(const struct invocation *inv); /* of the command's noun */
int command_definition_set(const struct invocation *inv);
int command_relation_add(const struct invocation *inv);
int command_relation_set(const struct invocation *inv);
int command_relation_delete(const struct invocation *inv);
int command_column_list(const struct invocation *inv);
int command_column_get(const struct invocation *inv);
int command_relation_get(const struct invocation *inv);
int command_column_add(const struct invocation *inv);
int command_column_set(const struct invocation *inv);
int command_column_delete(const struct invocation *inv);

int command_user_add(const struct invocation *inv);
int command_user_set(const struct invocation *inv);
int command_token_add(const struct invocation *inv);
int command_token_set(const struct invocation *inv);

int command_list(const struct invocation *inv); /* of the command's noun */
int command_get(const struct invocation *inv);
int command_delete(const struct invocation *inv);
int command_table_delete(const struct invocation *inv);
int command_topic_reset(const struct invocation *inv);
int command_topic_pause(const struct invocation *inv);
int command_topic_resume(const struct invocation *inv);
int command_topic_move(const struct invocation *inv);
int command_node_forget(const struct invocation *inv);
int command_node_rebalance(const struct invocation *inv);
int command_node_evacuate(const struct invocation *inv);
int command_node_admit(const struct invocation *inv);
int command_verify(const struct invocation *inv);
int command_trace(const struct invocation *inv);
int command_check(const struct invocation *inv);
int command_replay(const struct invocation *inv);
int command_report(const struct invocation *inv);
int command_explain(const struct invocation *inv);
int command_columns(const struct invocation *inv);
int command_mapping(const struct invocation *inv);

int command_status(const struct invocation *inv);
int command_doctor(const struct invocation *inv);

int command_index_create(const struct invocation *inv);
int command_index_set(const struct invocation *inv);
int command_index_cutover(const struct invocation *inv);
int command_index_pause(const struct invocation *inv);
int command_index_resume(const struct invocation *inv);
int command_index_refresh(const struct invocation *inv);
int command_index_rollback(const struct invocation *inv);
int command_index_reset(const struct invocation *inv);
int command_index_delete(const struct invocation *inv);

int command_dead_letter_list(const struct invocation *inv);
int command_dead_letter_show(const struct invocation *inv);
int command_dead_letter_replay(const struct invocation *inv);
int command_dead_letter_discard(const struct invocation *inv);
int command_delayed_list(const struct invocation *inv);
int command_delayed_runs(const struct invocation *inv);
int command_delayed_run(const struct invocation *inv);
int command_delayed_done(const struct invocation *inv);

extern const struct command_option decode_options[], inspect_options[];
int command_binlog_decode(const struct invocation *inv);
int command_binlog_inspect(const struct invocation *inv);
int command_delivery_get(const struct invocation *inv);
int command_delivery_set(const struct invocation *inv);
int command_audit_list(const struct invocation *inv);
int command_drain(const struct invocation *inv);
int command_alarm_test(const struct invocation *inv);
int command_backup(const struct invocation *inv);
int command_config_show(const struct invocation *inv);

int command_version(const struct invocation *inv);
int command_help(const struct invocation *inv);
int command_manual(const struct invocation *inv);
int command_completion(const struct invocation *inv);
int command_complete(const struct invocation *inv);

int command_word_add(const struct invocation *inv);
int command_word_set(const struct invocation *inv);
int command_word_list(const struct invocation *inv);
int command_word_get(const struct invocation *inv);
int command_word_delete(const struct invocation *inv);
int command_word_publish(const struct invocation *inv);
int command_word_import(const struct invocation *inv);
int command_word_export(const struct invocation *inv);
int command_word_status(const struct invocation *inv);
int command_word_try(const struct invocation *inv);

#endif
