# Unit tests of this room.
check_LIBRARIES += libtinyhttp.a
libtinyhttp_a_SOURCES = tests/fakes/tiny_http.c tests/fakes/tiny_http.h

unit_tests += \
	%D%/test_address_model \
	%D%/test_address_set \
	%D%/test_engine \
	%D%/test_http_client \
	%D%/test_json \
	%D%/test_metric \
	%D%/test_problem \
	%D%/test_refusal \
	%D%/test_search \
	%D%/test_search_nodes \
	%D%/test_search_sniff \
	%D%/test_secret_file \
	%D%/test_renewed_key %D%/test_sigv4 \
	%D%/test_yaml
tests_unit_test_address_model_LDADD = $(service_test_ldadd)
tests_unit_test_address_set_LDADD = $(service_test_ldadd)
tests_unit_test_engine_LDADD      = $(service_test_ldadd)
tests_unit_test_http_client_LDADD = libtinyhttp.a $(service_test_ldadd)
tests_unit_test_json_LDADD        = $(service_test_ldadd)
tests_unit_test_metric_LDADD      = $(service_test_ldadd)
tests_unit_test_problem_LDADD     = $(service_test_ldadd)
tests_unit_test_refusal_LDADD     = $(service_test_ldadd)
tests_unit_test_search_LDADD      = libtinyhttp.a $(service_test_ldadd)
tests_unit_test_search_nodes_LDADD = $(service_test_ldadd)
tests_unit_test_search_sniff_LDADD = libtinyhttp.a $(service_test_ldadd)
tests_unit_test_secret_file_LDADD = $(service_test_ldadd)
tests_unit_test_renewed_key_LDADD = $(service_test_ldadd)
tests_unit_test_sigv4_LDADD       = $(service_test_ldadd)
tests_unit_test_yaml_LDADD        = $(service_test_ldadd)
