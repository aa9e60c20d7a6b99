unit_tests += \
	%D%/test_arena \
	%D%/test_buf \
	%D%/test_bytes \
	%D%/test_err \
	%D%/test_failpoint \
	%D%/test_hex \
	%D%/test_human \
	%D%/test_histogram \
	%D%/test_minute \
	%D%/test_log \
	%D%/test_map \
	%D%/test_number \
	%D%/test_nearest \
	%D%/test_queue \
	%D%/test_random \
	%D%/test_thread
tests_unit_test_arena_LDADD  = $(base_test_ldadd)
tests_unit_test_buf_LDADD    = $(base_test_ldadd)
tests_unit_test_bytes_LDADD  = $(base_test_ldadd)
tests_unit_test_err_LDADD    = $(base_test_ldadd)
tests_unit_test_failpoint_LDADD = $(base_test_ldadd)
tests_unit_test_hex_LDADD    = $(base_test_ldadd)
tests_unit_test_human_LDADD  = $(base_test_ldadd)
tests_unit_test_histogram_LDADD = $(base_test_ldadd)
tests_unit_test_minute_LDADD = $(base_test_ldadd)
tests_unit_test_log_LDADD    = $(base_test_ldadd)
tests_unit_test_map_LDADD    = $(base_test_ldadd)
tests_unit_test_number_LDADD = $(base_test_ldadd) -lm
tests_unit_test_nearest_LDADD = $(base_test_ldadd)
tests_unit_test_queue_LDADD  = $(base_test_ldadd)
tests_unit_test_random_LDADD = $(base_test_ldadd)
tests_unit_test_thread_LDADD = $(base_test_ldadd)
