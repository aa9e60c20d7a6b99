# Unit tests of this room.
unit_tests += \
	%D%/test_field \
	%D%/test_key \
	%D%/test_key_set \
	%D%/test_lookup \
	%D%/test_membership \
	%D%/test_plan \
	%D%/test_plan_areas \
	%D%/test_plan_membership \
	%D%/test_transform
tests_unit_test_field_LDADD   = $(document_test_ldadd)
tests_unit_test_key_LDADD     = $(document_test_ldadd)
tests_unit_test_key_set_LDADD = $(document_test_ldadd)
tests_unit_test_lookup_LDADD  = $(document_test_ldadd)
tests_unit_test_membership_LDADD = $(document_test_ldadd)
tests_unit_test_plan_LDADD    = $(document_test_ldadd)
tests_unit_test_plan_areas_LDADD = $(document_test_ldadd)
tests_unit_test_plan_membership_LDADD = $(document_test_ldadd)
tests_unit_test_transform_LDADD = $(document_test_ldadd)
EXTRA_DIST += %D%/document_fixture.h %D%/shop_fixture.h
