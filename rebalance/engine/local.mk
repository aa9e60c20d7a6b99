# What searches see is compared with what is written, and put right.
libmillrace_a_SOURCES += \
	%D%/engine.c %D%/engine.h
