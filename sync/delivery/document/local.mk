# One document: its states, writes, coalescing.
libmillrace_a_SOURCES += \
	%D%/area.c %D%/area.h \
	%D%/budget.c %D%/budget.h \
	%D%/delete_repeater.c %D%/delete_repeater.h \
	%D%/dirty_set.c %D%/dirty_set.h \
	%D%/document.c %D%/document.h \
	%D%/document_table.c %D%/document_table.h \
	%D%/operation.h \
	%D%/target.c %D%/target.h \
	%D%/write.c %D%/write.h
