# Tests of this room link a coordinator that does nothing in place of librebalance.a.
check_LIBRARIES += libfakecoordinator.a
libfakecoordinator_a_SOURCES = tests/fakes/fake_coordinator.c tests/fakes/fake_coordinator.h
web_fake_ldadd = libweb.a libfakecoordinator.a $(service_libs) $(CMOCKA_LIBS) $(MHD_LIBS) $(CJSON_LIBS) -lm

unit_tests += \
	%D%/test_page \
	%D%/test_request \
	%D%/test_routes
tests_unit_test_request_LDADD = $(web_fake_ldadd)
tests_unit_test_page_LDADD   = $(web_fake_ldadd)
tests_unit_test_routes_LDADD = $(web_fake_ldadd)
