# Rows to documents.
libmillrace_a_SOURCES += \
	%D%/plan_node.h \
	%D%/cell.c %D%/cell.h \
	%D%/comparison.c %D%/comparison.h \
	%D%/field.c %D%/field.h \
	%D%/found_roots.c %D%/found_roots.h \
	%D%/key.c %D%/key.h \
	%D%/key_set.c %D%/key_set.h \
	%D%/level.c %D%/level.h \
	%D%/loader.c %D%/loader.h \
	%D%/lookup.c %D%/lookup.h \
	%D%/membership.c %D%/membership.h \
	%D%/plan.c %D%/plan.h \
	%D%/plan_areas.c \
	%D%/plan_compile.c \
	%D%/plan_compiler.h \
	%D%/plan_fields.c \
	%D%/plan_membership.c \
	%D%/poll_query.c %D%/poll_query.h \
	%D%/provenance.c %D%/provenance.h \
	%D%/query.c %D%/query.h \
	%D%/query_part.c %D%/query_part.h \
	%D%/query_roots.c %D%/query_roots.h \
	%D%/resolver.h \
	%D%/resolver_find.c \
	%D%/resolver_key.c \
	%D%/resolver_page.c \
	%D%/row_document.c %D%/row_document.h \
	%D%/transform_apply.c %D%/transform_apply.h
