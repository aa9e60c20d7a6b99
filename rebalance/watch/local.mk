# What is asked beside all else: kept with its age, or within a limit of time.
libmillrace_a_SOURCES += \
	%D%/asking.c %D%/asking.h \
	%D%/engine_check.c %D%/engine_check.h \
	%D%/engine_facts.c %D%/engine_facts.h \
	%D%/engine_watch.c %D%/engine_watch.h \
	%D%/errand.c %D%/errand.h \
	%D%/findings.c %D%/findings.h \
	%D%/stored_facts.c %D%/stored_facts.h \
	%D%/store_watch.c %D%/store_watch.h \
	%D%/watch.c %D%/watch.h \
	%D%/whose.c %D%/whose.h
