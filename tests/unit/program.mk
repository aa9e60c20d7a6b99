# Unit tests of the program's own parts.
program_test_ldadd = libprogram.a $(web_test_ldadd)
unit_tests += \
	%D%/test_command \
	%D%/test_configuration \
	%D%/test_log_choice \
	%D%/test_meter \
	%D%/test_reference \
	%D%/test_render \
	%D%/test_search_access \
	%D%/test_store_address
tests_unit_test_command_LDADD       = $(program_test_ldadd)
tests_unit_test_configuration_LDADD = $(program_test_ldadd)
tests_unit_test_log_choice_LDADD    = $(program_test_ldadd)
tests_unit_test_meter_LDADD         = $(program_test_ldadd)
tests_unit_test_reference_LDADD     = $(program_test_ldadd)
tests_unit_test_render_LDADD        = $(program_test_ldadd)
tests_unit_test_search_access_LDADD = $(program_test_ldadd)
tests_unit_test_store_address_LDADD = $(program_test_ldadd)
