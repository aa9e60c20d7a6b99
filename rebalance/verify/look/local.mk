# One document: its copies in the engine, and what a look at both sides says.
libmillrace_a_SOURCES += \
	%D%/copies.c %D%/copies.h \
	%D%/verdict.c %D%/verdict.h
