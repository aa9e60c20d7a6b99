# Fill, count, repeat deletes, publish the alias.
libmillrace_a_SOURCES += \
	%D%/build.c %D%/build.h \
	%D%/cost.c %D%/cost.h \
	%D%/count.c \
	%D%/deletes.c \
	%D%/divide.c \
	%D%/index_build.h \
	%D%/judgement.c %D%/judgement.h \
	%D%/page_wait.c %D%/page_wait.h \
	%D%/publish.c \
	%D%/question.h \
	%D%/reads.c %D%/reads.h \
	%D%/refusals.c %D%/refusals.h \
	%D%/step.c \
	%D%/searches.c \
	%D%/stored_deletes.c %D%/stored_deletes.h \
	%D%/tally.c %D%/tally.h
