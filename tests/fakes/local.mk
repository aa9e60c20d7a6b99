# A search engine in memory, for tests: a library and a program.
check_LIBRARIES += libfakesearch.a
libfakesearch_a_SOURCES = \
	%D%/fake_answer.c %D%/fake_answer.h \
	%D%/fake_area.c   %D%/fake_area.h \
	%D%/fake_bulk.c   %D%/fake_bulk.h \
	%D%/fake_engine.c %D%/fake_engine.h \
	%D%/fake_http.c   %D%/fake_http.h \
	%D%/fake_routes.c %D%/fake_routes.h \
	%D%/fake_search.c %D%/fake_search.h \
	%D%/fake_signature.c %D%/fake_signature.h \
	%D%/fake_voice.c %D%/fake_voice.h

check_PROGRAMS += %D%/fake_search
tests_fakes_fake_search_SOURCES = %D%/fake_search_main.c
tests_fakes_fake_search_LDADD   = libfakesearch.a $(service_libs) $(all_libs)

# The machine below a program, misbehaving; integration tests build it.
EXTRA_DIST += %D%/preload.c
