# The definitions.  libmodel.a
noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	%D%/catalog_schemas.c %D%/catalog.h \
	%D%/catalog_column.c %D%/catalog_column.h %D%/catalog_facts.c \
	%D%/catalog_parts.h %D%/catalog_questions.c \
	%D%/catalog_reader.c %D%/catalog_shares.c \
	%D%/definition.c %D%/definition.h \
	%D%/definition_check.c %D%/definition_check.h %D%/definition_check_live.c \
	%D%/definition_check_join.c %D%/definition_check_join.h \
	%D%/definition_check_key.c %D%/definition_check_key.h \
	%D%/definition_diff.c %D%/definition_diff.h \
	%D%/definition_export.c %D%/definition_export.h \
	%D%/definition_form.c %D%/definition_form.h \
	%D%/definition_links.c %D%/definition_links.h \
	%D%/definition_members.c %D%/definition_members.h \
	%D%/definition_parse.c %D%/definition_parse.h \
	%D%/definition_read.c %D%/definition_read.h \
	%D%/definition_rule.c %D%/definition_rule.h \
	%D%/expression.c %D%/expression.h \
	%D%/columns_generate.c %D%/columns_generate.h \
	%D%/definition_sharing.c %D%/definition_sharing.h \
	%D%/constant.c %D%/constant.h %D%/field_type.c %D%/field_type.h \
	%D%/foreign_keys.c %D%/foreign_keys.h \
	%D%/index_settings.c %D%/index_settings.h \
	%D%/mapping.c %D%/mapping.h \
	%D%/mapping_added.c %D%/mapping_added.h \
	%D%/mapping_settings.c %D%/mapping_settings.h \
	%D%/mapping_shared.c %D%/mapping_shared.h \
	%D%/reach.c %D%/reach.h \
	%D%/shape_diff.c %D%/shape_diff.h \
	%D%/subject.c %D%/subject.h \
	%D%/table_indexes.c %D%/table_indexes.h \
	%D%/table_key.c %D%/table_key.h \
	%D%/transform.c %D%/transform.h \
	%D%/value_change.c %D%/value_change.h
model_libs = libmodel.a $(binlog_libs)
