# Bytes in, values out; the transports at its edge.  libbinlog.a
noinst_LIBRARIES += libbinlog.a
libbinlog_a_SOURCES = \
	%D%/cell.c %D%/cell.h %D%/cell_json.c %D%/cell_json.h \
	%D%/charset.c %D%/charset.h %D%/charset_tables.c %D%/charset_tables.h \
	%D%/checksum.c %D%/checksum.h \
	%D%/cursor.h \
	%D%/ddl.c %D%/ddl.h \
	%D%/ddl_swap.c %D%/ddl_swap.h \
	%D%/ddl_alter.c %D%/ddl_parse.c %D%/ddl_reading.c %D%/ddl_reading.h \
	%D%/decode.c %D%/decode.h %D%/decode_event.c %D%/decode_event.h \
	%D%/decimal.c %D%/decimal.h \
	%D%/event.c %D%/event.h \
	%D%/framer.c %D%/framer.h \
	%D%/geometry.c %D%/geometry.h \
	%D%/gtid.c %D%/gtid.h %D%/gtid_text.c %D%/gtid_text.h \
	%D%/gtid_origin.c %D%/gtid_origin.h \
	%D%/gtid_set.c %D%/gtid_set.h %D%/gtid_set_text.c %D%/gtid_set_wire.c \
	%D%/gtid_state.c %D%/gtid_state.h \
	%D%/inspect.c %D%/inspect.h \
	%D%/intervals.c %D%/intervals.h \
	%D%/json_diff.c %D%/json_diff.h \
	%D%/jsonb.c %D%/jsonb.h \
	%D%/log_excerpt.c %D%/log_excerpt.h \
	%D%/log_filter.c %D%/log_filter.h \
	%D%/payload.c %D%/payload.h \
	%D%/position.c %D%/position.h \
	%D%/row.c %D%/row.h \
	%D%/row_fill.c %D%/row_fill.h \
	%D%/row_images.c %D%/row_images.h \
	%D%/row_json.c %D%/row_json.h \
	%D%/schema.c %D%/schema.h \
	%D%/schema_json.c %D%/schema_json.h \
	%D%/server_identity.c %D%/server_identity.h \
	%D%/sql_lexer.c %D%/sql_lexer.h \
	%D%/table_map.c %D%/table_map.h \
	%D%/table_metadata.c %D%/table_metadata.h \
	%D%/temporal.c %D%/temporal.h \
	%D%/transaction.c %D%/transaction.h \
	%D%/unpack.c %D%/unpack.h \
	%D%/value.h \
	%D%/value.c \
	%D%/value_json.c %D%/value_json.h \
	%D%/wire.c %D%/wire.h \
	%D%/transport.c %D%/transport.h \
	%D%/transport_file.c \
	%D%/transport_server.c \
	%D%/transport_wire.h
if HAVE_LIBMARIADB
libbinlog_a_SOURCES += %D%/transport_libmariadb.c
else
libbinlog_a_SOURCES += %D%/transport_libmysqlclient.c
endif
binlog_libs = libbinlog.a $(service_libs)
