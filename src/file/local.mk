# Files: whole, locked, secret, sealed; the data folder.
libmillrace_a_SOURCES += \
	%D%/data_folder.c %D%/data_folder.h \
	%D%/draft_file.c %D%/draft_file.h \
	%D%/file_lock.c %D%/file_lock.h \
	%D%/new_files.c %D%/new_files.h \
	%D%/node_file.c %D%/node_file.h \
	%D%/seal.c %D%/seal.h \
	%D%/secret_file.c %D%/secret_file.h \
	%D%/whole_file.c %D%/whole_file.h \
	%D%/zone_file.c %D%/zone_file.h
