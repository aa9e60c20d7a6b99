# What status shows of a table, a topic, a build.
libmillrace_a_SOURCES += \
	%D%/away.c %D%/away.h \
	%D%/build_view.c %D%/build_view.h \
	%D%/cluster.c %D%/cluster.h \
	%D%/condition.h \
	%D%/fan_out.c %D%/fan_out.h \
	%D%/glance.h \
	%D%/kept.c \
	%D%/look.h \
	%D%/known.c %D%/known.h \
	%D%/older.c %D%/older.h \
	%D%/runs.c %D%/runs.h \
	%D%/table.c \
	%D%/table_trees.c %D%/table_trees.h \
	%D%/told.c %D%/told.h \
	%D%/topic.c %D%/topic.h \
	%D%/view.c %D%/view.h
