# The moving parts of one source.  libsync.a
noinst_LIBRARIES += libsync.a
libsync_a_SOURCES = \
	%D%/absence.c         %D%/absence.h \
	%D%/assignment.c      %D%/assignment.h \
	%D%/builder.c         %D%/builder.h \
	%D%/cascade_going.c   %D%/cascade_going.h \
	%D%/cascade_intake.c  %D%/cascade_parts.h \
	%D%/cascade_leave.c \
	%D%/cascade_look.c \
	%D%/cascade_parent.c  %D%/cascade_parent.h \
	%D%/cascade_plan.c    %D%/cascade_plan.h \
	%D%/cascade_review.c  %D%/cascade_review.h \
	%D%/cascade_rows.c    %D%/cascade_rows.h \
	%D%/cascade_thread.c  %D%/cascades.h \
	%D%/change_related.c \
	%D%/change_root.c \
	%D%/change_rows.c     %D%/change_writer.h \
	%D%/change_unit.c     %D%/change_parts.h \
	%D%/denied.c          %D%/denied.h \
	%D%/dump_start.c      %D%/dump_start.h \
	%D%/failover.c        %D%/failover.h \
	%D%/fan_out_jobs.c    %D%/fan_out_jobs.h \
	%D%/fan_out_look.c    %D%/fan_out_parts.h \
	%D%/fan_out_put.c     %D%/fan_out.h \
	%D%/fan_out_run.c     %D%/fan_out_run.h \
	%D%/fan_out_thread.c \
	%D%/fan_out_versions.c \
	%D%/fingerprint.c     %D%/fingerprint.h \
	%D%/handoff.c         %D%/handoff.h \
	%D%/held.c            %D%/held.h \
	%D%/known_server.c    %D%/known_server.h \
	%D%/late_rows.c       %D%/late_rows.h \
	%D%/load_run.c        %D%/load_run.h \
	%D%/log_place.c       %D%/log_place.h \
	%D%/patience.c        %D%/patience.h \
	%D%/pipeline_life.c   %D%/pipeline.h \
	%D%/pipeline_make.c   %D%/pipeline_parts.h \
	%D%/pipeline_state.c \
	%D%/prepared.c        %D%/prepared.h \
	%D%/progress.c        %D%/progress.h \
	%D%/questions.c       %D%/questions.h \
	%D%/rate.c            %D%/rate.h \
	%D%/peers.c           %D%/peers.h \
	%D%/read_link.c       %D%/read_link.h \
	%D%/read_links.c      %D%/read_links.h \
	%D%/read_position.c   %D%/read_position.h \
	%D%/recent_gtids.c    %D%/recent_gtids.h \
	%D%/read_view.c       %D%/read_view.h \
	%D%/replay.c          %D%/replay.h \
	%D%/reread.c          %D%/reread.h \
	%D%/resolve_run.c     %D%/resolve_run.h \
	%D%/seek.c            %D%/seek.h \
	%D%/resolve_task.c    %D%/resolve_task.h \
	%D%/router.c          %D%/router.h \
	%D%/routing.c         %D%/routing.h \
	%D%/routing_compile.c %D%/routing_compile.h \
	%D%/rows_at.h \
	%D%/safe_point.c      %D%/safe_point.h \
	%D%/saver.c           %D%/saver.h \
	%D%/schemas.c         %D%/schemas.h \
	%D%/server_access.c   %D%/server_access.h \
	%D%/server_info.c     %D%/server_info.h \
	%D%/set_off.c         %D%/set_off.h \
	%D%/shapes.c          %D%/shapes.h \
	%D%/shapes_store.c    %D%/shapes_store.h \
	%D%/source.c          %D%/source.h \
	%D%/spill.c           %D%/spill.h \
	%D%/standstill.c      %D%/standstill.h \
	%D%/start_point.c     %D%/start_point.h \
	%D%/table_stops.c     %D%/table_stops.h \
	%D%/takeover.c        %D%/takeover.h \
	%D%/witness.c         %D%/witness.h \
	%D%/write_gather.c    %D%/write_gather.h
sync_libs = libsync.a $(delivery_libs)
