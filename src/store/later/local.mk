# What is to be done later: rows and keys that wait.
libmillrace_a_SOURCES += \
	%D%/fan_out.c %D%/fan_out.h \
	%D%/gone.c %D%/gone.h \
	%D%/kept_search.c %D%/kept_search.h \
	%D%/midnight.c %D%/midnight.h \
	%D%/purged.c %D%/purged.h \
	%D%/snapshot.c %D%/snapshot_list.c %D%/snapshot.h \
	%D%/whole_table.c %D%/whole_table.h
