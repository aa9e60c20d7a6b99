# What tests play with: a search engine in memory, which is also a program, and an HTTP server.
check_LIBRARIES += libfakes.a
libfakes_a_SOURCES = \
	%D%/fake_answer.c %D%/fake_answer.h \
	%D%/fake_area.c   %D%/fake_area.h \
	%D%/fake_bulk.c   %D%/fake_bulk.h \
	%D%/fake_engine.c %D%/fake_engine.h \
	%D%/fake_http.c   %D%/fake_http.h \
	%D%/fake_list.c   %D%/fake_list.h \
	%D%/fake_routes.c %D%/fake_routes.h \
	%D%/fake_search.c %D%/fake_search.h \
	%D%/fake_signature.c %D%/fake_signature.h \
	%D%/fake_voice.c %D%/fake_voice.h \
	%D%/tiny_http.c %D%/tiny_http.h

check_PROGRAMS += %D%/fake_search
tests_fakes_fake_search_SOURCES = %D%/fake_search_main.c

# The machine below a program, misbehaving; integration tests build it.
EXTRA_DIST += %D%/preload.c

# A coordinator that does nothing, in place of the real one.
check_LIBRARIES += libfakecoordinator.a
libfakecoordinator_a_SOURCES = %D%/fake_coordinator.c %D%/fake_coordinator.h %D%/fake_shared.c
