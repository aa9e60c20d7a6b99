# A table looked at outside the stream, for apply and doctor.
libmillrace_a_SOURCES += \
	%D%/areas.c %D%/areas.h \
	%D%/asked.c %D%/asked.h \
	%D%/look.c %D%/look.h \
	%D%/pipelines.c %D%/pipelines.h \
	%D%/replica.c %D%/replica.h \
	%D%/row_state.c %D%/row_state.h \
	%D%/sharing.c %D%/sharing.h \
	%D%/taken.c %D%/taken.h
