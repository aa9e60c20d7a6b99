# Who runs what, when.  librebalance.a
noinst_LIBRARIES += librebalance.a
librebalance_a_SOURCES = \
	%D%/doctor.c %D%/doctor.h \
	%D%/doctor_mysql.h %D%/doctor_server.c %D%/doctor_table.c \
	%D%/doctor_visit.c %D%/doctor_visit.h \
	%D%/coordination.c    %D%/coordination.h \
	%D%/coordinator.h \
	%D%/build.c %D%/build.h %D%/build_count.c %D%/build_deletes.c %D%/build_fill.c \
	%D%/index_build.h \
	%D%/delivery_values.c %D%/delivery_values.h \
	%D%/job.c             %D%/job.h \
	%D%/asked.c           %D%/asked.h \
	%D%/look.c            %D%/look.h \
	%D%/node.c            %D%/node.h \
	%D%/node_apply.c \
	%D%/node_abroad.c \
	%D%/node_areas.c \
	%D%/node_build.c \
	%D%/node_dead.c \
	%D%/node_purged.c \
	%D%/node_definition.c \
	%D%/node_delivery.c \
	%D%/node_delivery_set.c \
	%D%/node_drain.c \
	%D%/node_doctor.c \
	%D%/node_explain.c %D%/node_mapping.c \
	%D%/node_failover.c \
	%D%/node_fields.c \
	%D%/node_gap.c \
	%D%/node_index.c \
	%D%/node_fan_out.c \
	%D%/node_list.c \
	%D%/node_marks.c \
	%D%/node_metrics.c \
	%D%/node_rebuild.c \
	%D%/node_replica.c \
	%D%/node_reset.c \
	%D%/node_routes.c \
	%D%/node_settings.c \
	%D%/node_shards.c \
	%D%/node_alias.c \
	%D%/node_sharing.c \
	%D%/node_shape.c \
	%D%/node_state.c \
	%D%/node_search.c \
	%D%/node_status.c \
	%D%/node_sync.c \
	%D%/node_table_stop.c \
	%D%/node_told.c \
	%D%/node_topics.c \
	%D%/node_version_create.c \
	%D%/node_version_drop.c \
	%D%/page_wait.c       %D%/page_wait.h \
	%D%/repair_slice.c    %D%/repair_slice.h \
	%D%/table_sync.c      %D%/table_sync.h \
	%D%/tally.c           %D%/tally.h
rebalance_libs = librebalance.a $(sync_libs)
