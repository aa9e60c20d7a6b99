# Index versions: create, drop, shape, settings, stops, routes.
libmillrace_a_SOURCES += \
	%D%/buckets.c %D%/buckets.h \
	%D%/build.c %D%/build.h \
	%D%/builds.c %D%/builds.h \
	%D%/claim.c %D%/claim.h \
	%D%/cross_topic.c %D%/cross_topic.h \
	%D%/fields.c %D%/fields.h \
	%D%/held.c %D%/held.h \
	%D%/index.c %D%/index.h \
	%D%/lineage.c %D%/lineage.h \
	%D%/marks.c %D%/marks.h \
	%D%/pause.c %D%/pause.h \
	%D%/pending.c %D%/pending.h \
	%D%/rebuild.c %D%/rebuild.h \
	%D%/retire.c %D%/retire.h \
	%D%/retired.c %D%/retired.h \
	%D%/rollback.c %D%/rollback.h \
	%D%/routes.c %D%/routes.h \
	%D%/settings.c %D%/settings.h \
	%D%/shape.c %D%/shape.h \
	%D%/shards.c %D%/shards.h \
	%D%/table_stop.c %D%/table_stop.h \
	%D%/trees.c %D%/trees.h \
	%D%/version_create.c %D%/version_create.h \
	%D%/version_drop.c %D%/version_drop.h \
	%D%/waiting.c %D%/waiting.h
