# A fuzz target is fuzz_NAME.c, which defines LLVMFuzzerTestOneInput (fuzz.h), with its inputs in
# corpus/NAME.  `make check` replays the inputs (replay_NAME, listed below); configured with
# --enable-fuzzers CC=clang, fuzz_NAME is the same target under libFuzzer, which run.sh runs
# (./runtests --only fuzz --seconds N).
fuzz_replays = %D%/replay_json
tests_fuzz_replay_json_SOURCES = %D%/fuzz_json.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_json_difference
tests_fuzz_replay_json_difference_SOURCES = %D%/fuzz_json_difference.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_json_hash
tests_fuzz_replay_json_hash_SOURCES = %D%/fuzz_json_hash.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_definition
tests_fuzz_replay_definition_SOURCES = %D%/fuzz_definition.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_configuration
tests_fuzz_replay_configuration_SOURCES = %D%/fuzz_configuration.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_bulk_response
tests_fuzz_replay_bulk_response_SOURCES = %D%/fuzz_bulk_response.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_request
tests_fuzz_replay_request_SOURCES = %D%/fuzz_request.c %D%/replay.c %D%/fuzz.h
tests_fuzz_replay_request_LDADD   = $(web_fake_ldadd)
fuzz_replays += %D%/replay_head
tests_fuzz_replay_head_SOURCES = %D%/fuzz_head.c %D%/replay.c %D%/fuzz.h
tests_fuzz_replay_head_LDADD   = $(web_fake_ldadd)
fuzz_replays += %D%/replay_answer
tests_fuzz_replay_answer_SOURCES = %D%/fuzz_answer.c %D%/replay.c %D%/fuzz.h
tests_fuzz_replay_answer_LDADD   = $(web_fake_ldadd)

# Binlog: a whole log, one cell, binary JSON, GTIDs, statements, a file, bodies of events, a table
# and its rows, text, numbers.
fuzz_replays += %D%/replay_log
tests_fuzz_replay_log_SOURCES = %D%/fuzz_log.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_cell
tests_fuzz_replay_cell_SOURCES = %D%/fuzz_cell.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_jsonb
tests_fuzz_replay_jsonb_SOURCES = %D%/fuzz_jsonb.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_gtid
tests_fuzz_replay_gtid_SOURCES = %D%/fuzz_gtid.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_ddl
tests_fuzz_replay_ddl_SOURCES = %D%/fuzz_ddl.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_file
tests_fuzz_replay_file_SOURCES = %D%/fuzz_file.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_event
tests_fuzz_replay_event_SOURCES = %D%/fuzz_event.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_rows
tests_fuzz_replay_rows_SOURCES = %D%/fuzz_rows.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_text
tests_fuzz_replay_text_SOURCES = %D%/fuzz_text.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_number
tests_fuzz_replay_number_SOURCES = %D%/fuzz_number.c %D%/replay.c %D%/fuzz.h

# A place at which a read of a table stopped, as stored.
fuzz_replays += %D%/replay_place
tests_fuzz_replay_place_SOURCES = %D%/fuzz_place.c %D%/replay.c %D%/fuzz.h

# What a killed process or a bad disk leaves of a tree.
fuzz_replays += %D%/replay_node_data
tests_fuzz_replay_node_data_SOURCES = %D%/fuzz_node_data.c %D%/replay.c %D%/fuzz.h
fuzz_replays += %D%/replay_tree
tests_fuzz_replay_tree_SOURCES = %D%/fuzz_tree.c %D%/replay.c %D%/fuzz.h

if FUZZERS
noinst_PROGRAMS += %D%/fuzz_place
tests_fuzz_fuzz_place_SOURCES = %D%/fuzz_place.c %D%/fuzz.h
tests_fuzz_fuzz_place_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_place_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_node_data
tests_fuzz_fuzz_node_data_SOURCES = %D%/fuzz_node_data.c %D%/fuzz.h
tests_fuzz_fuzz_node_data_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_node_data_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_tree
tests_fuzz_fuzz_tree_SOURCES = %D%/fuzz_tree.c %D%/fuzz.h
tests_fuzz_fuzz_tree_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_tree_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_log
tests_fuzz_fuzz_log_SOURCES = %D%/fuzz_log.c %D%/fuzz.h
tests_fuzz_fuzz_log_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_log_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_cell
tests_fuzz_fuzz_cell_SOURCES = %D%/fuzz_cell.c %D%/fuzz.h
tests_fuzz_fuzz_cell_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_cell_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_jsonb
tests_fuzz_fuzz_jsonb_SOURCES = %D%/fuzz_jsonb.c %D%/fuzz.h
tests_fuzz_fuzz_jsonb_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_jsonb_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_gtid
tests_fuzz_fuzz_gtid_SOURCES = %D%/fuzz_gtid.c %D%/fuzz.h
tests_fuzz_fuzz_gtid_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_gtid_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_ddl
tests_fuzz_fuzz_ddl_SOURCES = %D%/fuzz_ddl.c %D%/fuzz.h
tests_fuzz_fuzz_ddl_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_ddl_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_json
tests_fuzz_fuzz_json_SOURCES = %D%/fuzz_json.c %D%/fuzz.h
tests_fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_json_difference
tests_fuzz_fuzz_json_difference_SOURCES = %D%/fuzz_json_difference.c %D%/fuzz.h
tests_fuzz_fuzz_json_difference_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_difference_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_json_hash
tests_fuzz_fuzz_json_hash_SOURCES = %D%/fuzz_json_hash.c %D%/fuzz.h
tests_fuzz_fuzz_json_hash_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_hash_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_definition
tests_fuzz_fuzz_definition_SOURCES = %D%/fuzz_definition.c %D%/fuzz.h
tests_fuzz_fuzz_definition_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_definition_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_configuration
tests_fuzz_fuzz_configuration_SOURCES = %D%/fuzz_configuration.c %D%/fuzz.h
tests_fuzz_fuzz_configuration_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_configuration_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_bulk_response
tests_fuzz_fuzz_bulk_response_SOURCES = %D%/fuzz_bulk_response.c %D%/fuzz.h
tests_fuzz_fuzz_bulk_response_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_bulk_response_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_request
tests_fuzz_fuzz_request_SOURCES = %D%/fuzz_request.c %D%/fuzz.h
tests_fuzz_fuzz_request_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_request_LDADD   = $(web_fake_ldadd)
noinst_PROGRAMS += %D%/fuzz_head
tests_fuzz_fuzz_head_SOURCES = %D%/fuzz_head.c %D%/fuzz.h
tests_fuzz_fuzz_head_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_head_LDADD   = $(web_fake_ldadd)
noinst_PROGRAMS += %D%/fuzz_answer
tests_fuzz_fuzz_answer_SOURCES = %D%/fuzz_answer.c %D%/fuzz.h
tests_fuzz_fuzz_answer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_answer_LDADD   = $(web_fake_ldadd)
noinst_PROGRAMS += %D%/fuzz_file
tests_fuzz_fuzz_file_SOURCES = %D%/fuzz_file.c %D%/fuzz.h
tests_fuzz_fuzz_file_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_file_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_event
tests_fuzz_fuzz_event_SOURCES = %D%/fuzz_event.c %D%/fuzz.h
tests_fuzz_fuzz_event_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_event_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_rows
tests_fuzz_fuzz_rows_SOURCES = %D%/fuzz_rows.c %D%/fuzz.h
tests_fuzz_fuzz_rows_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_rows_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_text
tests_fuzz_fuzz_text_SOURCES = %D%/fuzz_text.c %D%/fuzz.h
tests_fuzz_fuzz_text_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_text_LDADD   = $(program_libs)
noinst_PROGRAMS += %D%/fuzz_number
tests_fuzz_fuzz_number_SOURCES = %D%/fuzz_number.c %D%/fuzz.h
tests_fuzz_fuzz_number_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_number_LDADD   = $(program_libs)
endif

check_PROGRAMS      += $(fuzz_replays)
TESTS               += %D%/replay.tap
dist_noinst_SCRIPTS += %D%/replay.tap
EXTRA_DIST          += %D%/corpus %D%/run.sh
