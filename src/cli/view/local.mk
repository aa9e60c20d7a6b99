# What a terminal shows: tables, colours, reports, progress.
libmillrace_a_SOURCES += \
	%D%/build_view.c %D%/build_view.h \
	%D%/doctor_view.c %D%/doctor_view.h \
	%D%/inspect_view.c %D%/inspect_view.h \
	%D%/progress_line.c %D%/progress_line.h \
	%D%/render.c %D%/render_text.c %D%/render.h \
	%D%/screen.c %D%/screen.h \
	%D%/status_view.c %D%/status_view.h \
	%D%/trace_view.c %D%/trace_view.h \
	%D%/verify_view.c %D%/verify_view.h
