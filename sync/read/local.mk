# Consistent reads at a known position, on whichever server.
libmillrace_a_SOURCES += \
	%D%/access_denied.c %D%/access_denied.h \
	%D%/commit_wait.c %D%/commit_wait.h \
	%D%/link.c %D%/link.h \
	%D%/links.c %D%/links.h \
	%D%/source_registry.c %D%/source_registry.h \
	%D%/stall_watchdog.c %D%/stall_watchdog.h \
	%D%/view.c %D%/view.h
