# What a verification compares instead of everything.
libmillrace_a_SOURCES += \
	%D%/changed_state.c %D%/changed_state.h \
	%D%/places.c %D%/places.h \
	%D%/sample_state.c %D%/sample_state.h
