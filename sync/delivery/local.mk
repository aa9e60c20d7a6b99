# Documents to the search engine.  libdelivery.a
# (checkpoint is here, not in libsync.a, because tickets tell it what is done.)
noinst_LIBRARIES += libdelivery.a
libdelivery_a_SOURCES = \
	sync/checkpoint.c    sync/checkpoint.h \
	%D%/area.c           %D%/area.h \
	%D%/bisect.c         %D%/bisect.h \
	%D%/budget.c         %D%/budget.h \
	%D%/bulk.c           %D%/bulk.h \
	%D%/bulk_response.c  %D%/bulk_response.h \
	%D%/bulk_verdict.c   %D%/bulk_verdict.h \
	%D%/conflict.c       %D%/conflict.h \
	%D%/delivery_calls.c %D%/delivery.h \
	%D%/delivery_make.c  %D%/delivery_parts.h \
	%D%/delivery_metric.c %D%/delivery_metric.h \
	%D%/delivery_options.h \
	%D%/delivery_settings.c %D%/delivery_settings.h \
	%D%/delivery_thread.c \
	%D%/document.c       %D%/document.h \
	%D%/document_table.c %D%/document_table.h \
	%D%/drain.c          %D%/drain.h \
	%D%/draining.c       %D%/draining.h \
	%D%/fuse.c           %D%/fuse.h \
	%D%/gate.c           %D%/gate.h \
	%D%/guard.c          %D%/guard.h \
	%D%/late.c           %D%/late.h \
	%D%/letters.c        %D%/letters.h \
	%D%/limiter.c        %D%/limiter.h \
	%D%/pace.c           %D%/pace.h \
	%D%/purge.c          %D%/purge.h \
	%D%/loads.c          %D%/loads.h \
	%D%/mark.c           %D%/mark.h \
	%D%/operation.h \
	%D%/outlet_make.c    %D%/outlet.h \
	%D%/outlet_next.c    %D%/outlet_parts.h \
	%D%/outlet_purge.c \
	%D%/outlet_queues.c \
	%D%/purged.c         %D%/purged.h \
	%D%/relief.c         %D%/relief.h \
	%D%/request_answer.c %D%/request.h \
	%D%/request_items.c  %D%/request_parts.h \
	%D%/request_send.c \
	%D%/helpers.c        %D%/helpers.h \
	%D%/outlets.c        %D%/outlets.h \
	%D%/standing.c       %D%/standing.h \
	%D%/sender.c         %D%/sender.h \
	%D%/target.c         %D%/target.h \
	%D%/ticket.c         %D%/ticket.h \
	%D%/touched.c        %D%/touched.h \
	%D%/turnstile.c      %D%/turnstile.h \
	%D%/write.c          %D%/write.h
delivery_libs = libdelivery.a $(document_libs)
