# Unit tests of this room.
unit_tests += %D%/test_job
tests_unit_test_job_LDADD = $(rebalance_test_ldadd)
