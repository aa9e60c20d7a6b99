# 2 decode: frames, events, table maps, rows, statements, transactions: pure.
libmillrace_a_SOURCES += \
	%D%/cell.c %D%/cell.h \
	%D%/cell_json.c %D%/cell_json.h \
	%D%/cell_plan.c %D%/cell_plan.h \
	%D%/checksum.c %D%/checksum.h \
	%D%/ddl.c %D%/ddl.h \
	%D%/ddl_alter.c \
	%D%/ddl_parse.c \
	%D%/ddl_reading.c %D%/ddl_reading.h \
	%D%/ddl_swap.c %D%/ddl_swap.h \
	%D%/event.c %D%/event.h \
	%D%/framer.c %D%/framer.h \
	%D%/payload.c %D%/payload.h \
	%D%/row.c %D%/row.h \
	%D%/row_fill.c %D%/row_fill.h \
	%D%/row_images.c %D%/row_images.h \
	%D%/row_json.c %D%/row_json.h \
	%D%/sql_lexer.c %D%/sql_lexer.h \
	%D%/table_map.c %D%/table_map.h \
	%D%/table_metadata.c %D%/table_metadata.h \
	%D%/transaction.c %D%/transaction.h \
	%D%/unpack.c %D%/unpack.h \
	%D%/wire.c %D%/wire.h
