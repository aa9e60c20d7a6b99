# GTIDs, files and offsets, which server: pure.
libmillrace_a_SOURCES += \
	%D%/gtid.c %D%/gtid.h \
	%D%/gtid_origin.c %D%/gtid_origin.h \
	%D%/gtid_set.c %D%/gtid_set.h \
	%D%/gtid_set_text.c \
	%D%/gtid_set_wire.c \
	%D%/gtid_state.c %D%/gtid_state.h \
	%D%/gtid_text.c %D%/gtid_text.h \
	%D%/intervals.c %D%/intervals.h \
	%D%/position.c %D%/position.h \
	%D%/server_identity.c %D%/server_identity.h
