# The moving parts of one source.  libsync.a
noinst_LIBRARIES += libsync.a
libsync_a_SOURCES = \
	%D%/builder.c         %D%/builder.h \
	%D%/change_writer.c   %D%/change_writer.h \
	%D%/fingerprint.c     %D%/fingerprint.h \
	%D%/handoff.c         %D%/handoff.h \
	%D%/pipeline.c        %D%/pipeline.h \
	%D%/progress.c        %D%/progress.h \
	%D%/read_position.c   %D%/read_position.h \
	%D%/read_view.c       %D%/read_view.h \
	%D%/reread.c          %D%/reread.h \
	%D%/routing.c         %D%/routing.h \
	%D%/routing_compile.c %D%/routing_compile.h \
	%D%/saver.c           %D%/saver.h \
	%D%/schemas.c         %D%/schemas.h \
	%D%/server_access.c   %D%/server_access.h \
	%D%/server_info.c     %D%/server_info.h \
	%D%/shapes.c          %D%/shapes.h \
	%D%/source.c          %D%/source.h \
	%D%/standstill.c      %D%/standstill.h \
	%D%/witness.c         %D%/witness.h
sync_libs = libsync.a $(delivery_libs)
