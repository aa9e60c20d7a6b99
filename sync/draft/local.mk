# A first definition file, from what a server has.
libmillrace_a_SOURCES += \
	%D%/database_url.c %D%/database_url.h \
	%D%/draft.c %D%/draft.h \
	%D%/draft_name.c %D%/draft_name.h \
	%D%/draft_relations.c %D%/draft_relations.h \
	%D%/survey.c %D%/survey.h
