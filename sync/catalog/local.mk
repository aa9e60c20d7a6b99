# The live schema: columns, keys, foreign keys.
libmillrace_a_SOURCES += \
	%D%/catalog.h \
	%D%/catalog_schemas.c \
	%D%/column.c %D%/column.h \
	%D%/facts.c \
	%D%/foreign_keys.c %D%/foreign_keys.h \
	%D%/parts.h \
	%D%/questions.c \
	%D%/reader.c \
	%D%/shares.c \
	%D%/table_indexes.c %D%/table_indexes.h \
	%D%/table_key.c %D%/table_key.h
