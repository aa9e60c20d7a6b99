EXTRA_DIST += %D%/definition_text.h %D%/fake_catalog.h
unit_tests += \
	%D%/test_definition_check \
	%D%/test_definition_diff \
	%D%/test_definition_export \
	%D%/test_definition_parse \
	%D%/test_definition_refused \
	%D%/test_definition_sharing \
	%D%/test_definition_rule \
	%D%/test_field_type \
	%D%/test_mapping \
	%D%/test_mapping_added \
	%D%/test_shape_diff \
	%D%/test_value_change
tests_unit_test_definition_check_LDADD = $(model_test_ldadd)
tests_unit_test_definition_diff_LDADD  = $(model_test_ldadd)
tests_unit_test_definition_export_LDADD = $(model_test_ldadd)
tests_unit_test_definition_parse_LDADD = $(model_test_ldadd)
tests_unit_test_definition_refused_LDADD = $(model_test_ldadd)
tests_unit_test_definition_sharing_LDADD = $(model_test_ldadd)
tests_unit_test_definition_rule_LDADD  = $(model_test_ldadd)
tests_unit_test_field_type_LDADD       = $(model_test_ldadd)
tests_unit_test_mapping_LDADD          = $(model_test_ldadd)
tests_unit_test_mapping_added_LDADD    = $(model_test_ldadd)
tests_unit_test_shape_diff_LDADD       = $(model_test_ldadd)
tests_unit_test_value_change_LDADD     = $(model_test_ldadd)
