# The request body, and what its answer means: pure.
libmillrace_a_SOURCES += \
	%D%/bisect.c %D%/bisect.h \
	%D%/bulk.c %D%/bulk.h \
	%D%/bulk_response.c %D%/bulk_response.h \
	%D%/bulk_verdict.c %D%/bulk_verdict.h \
	%D%/cure.c %D%/cure.h
