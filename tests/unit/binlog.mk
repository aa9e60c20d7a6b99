# Unit tests of this room.
EXTRA_DIST += %D%/events.h %D%/log_steps.h %D%/memory_log.h %D%/vectors.h
unit_tests += \
	%D%/test_cell \
	%D%/test_charset \
	%D%/test_checksum \
	%D%/test_ddl %D%/test_ddl_swap \
	%D%/test_decimal \
	%D%/test_decode \
	%D%/test_decode_memory \
	%D%/test_event %D%/test_event_meaning \
	%D%/test_framer \
	%D%/test_geometry \
	%D%/test_gtid \
	%D%/test_inspect \
	%D%/test_json_diff \
	%D%/test_jsonb \
	%D%/test_payload \
	%D%/test_position \
	%D%/test_row \
	%D%/test_schema \
	%D%/test_statement \
	%D%/test_table_map \
	%D%/test_temporal \
	%D%/test_transaction \
	%D%/test_transport \
	%D%/test_transport_file \
	%D%/test_unpack \
	%D%/test_value_json
tests_unit_test_cell_LDADD           = $(binlog_test_ldadd)
tests_unit_test_charset_LDADD        = $(binlog_test_ldadd)
tests_unit_test_checksum_LDADD       = $(binlog_test_ldadd)
tests_unit_test_ddl_LDADD            = $(binlog_test_ldadd)
tests_unit_test_ddl_swap_LDADD            = $(binlog_test_ldadd)
tests_unit_test_decimal_LDADD        = $(binlog_test_ldadd)
tests_unit_test_decode_LDADD         = $(binlog_test_ldadd)
tests_unit_test_decode_memory_LDADD  = $(binlog_test_ldadd)
tests_unit_test_event_LDADD          = $(binlog_test_ldadd)
tests_unit_test_event_meaning_LDADD  = $(binlog_test_ldadd)
tests_unit_test_framer_LDADD         = $(binlog_test_ldadd)
tests_unit_test_geometry_LDADD       = $(binlog_test_ldadd)
tests_unit_test_gtid_LDADD           = $(binlog_test_ldadd)
tests_unit_test_inspect_LDADD        = $(binlog_test_ldadd)
tests_unit_test_json_diff_LDADD      = $(binlog_test_ldadd)
tests_unit_test_jsonb_LDADD          = $(binlog_test_ldadd)
tests_unit_test_payload_LDADD        = $(binlog_test_ldadd)
tests_unit_test_position_LDADD       = $(binlog_test_ldadd)
tests_unit_test_row_LDADD            = $(binlog_test_ldadd)
tests_unit_test_schema_LDADD         = $(binlog_test_ldadd)
tests_unit_test_statement_LDADD      = $(binlog_test_ldadd)
tests_unit_test_table_map_LDADD      = $(binlog_test_ldadd)
tests_unit_test_temporal_LDADD       = $(binlog_test_ldadd)
tests_unit_test_transaction_LDADD    = $(binlog_test_ldadd)
tests_unit_test_transport_LDADD      = $(binlog_test_ldadd)
tests_unit_test_transport_file_LDADD = $(binlog_test_ldadd)
tests_unit_test_unpack_LDADD         = $(binlog_test_ldadd)
tests_unit_test_value_json_LDADD     = $(binlog_test_ldadd)
