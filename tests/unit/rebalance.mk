# Unit tests of this room.
unit_tests += %D%/test_delivery_values %D%/test_job %D%/test_node %D%/test_page_wait %D%/test_repair_slice %D%/test_tally
tests_unit_test_delivery_values_LDADD = $(rebalance_test_ldadd)
tests_unit_test_job_LDADD = $(rebalance_test_ldadd)
tests_unit_test_node_LDADD = libtinyhttp.a $(rebalance_test_ldadd)
tests_unit_test_page_wait_LDADD = $(rebalance_test_ldadd)
tests_unit_test_repair_slice_LDADD = $(rebalance_test_ldadd)
tests_unit_test_tally_LDADD = $(rebalance_test_ldadd)
