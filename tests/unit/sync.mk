unit_tests += %D%/test_absence %D%/test_assignment %D%/test_cascade_plan %D%/test_checkpoint %D%/test_failover %D%/test_fan_out %D%/test_fingerprint %D%/test_handoff \
	%D%/test_known_server %D%/test_late_rows %D%/test_prepared %D%/test_progress \
	%D%/test_questions %D%/test_resolve_task %D%/test_routing %D%/test_safe_point %D%/test_server_access %D%/test_shapes \
	%D%/test_standstill %D%/test_witness
tests_unit_test_absence_LDADD       = $(sync_test_ldadd)
tests_unit_test_assignment_LDADD    = $(sync_test_ldadd)
tests_unit_test_fan_out_LDADD       = $(sync_test_ldadd)
tests_unit_test_resolve_task_LDADD  = $(sync_test_ldadd)
tests_unit_test_cascade_plan_LDADD  = $(sync_test_ldadd)
tests_unit_test_checkpoint_LDADD    = $(sync_test_ldadd)
tests_unit_test_failover_LDADD      = $(sync_test_ldadd)
tests_unit_test_fingerprint_LDADD   = $(sync_test_ldadd)
tests_unit_test_handoff_LDADD       = $(sync_test_ldadd)
tests_unit_test_known_server_LDADD  = $(sync_test_ldadd)
tests_unit_test_late_rows_LDADD     = $(sync_test_ldadd)
tests_unit_test_prepared_LDADD      = $(sync_test_ldadd)
tests_unit_test_progress_LDADD      = $(sync_test_ldadd)
tests_unit_test_questions_LDADD     = $(sync_test_ldadd)
tests_unit_test_routing_LDADD       = $(sync_test_ldadd)
tests_unit_test_safe_point_LDADD    = $(sync_test_ldadd)
tests_unit_test_server_access_LDADD = $(sync_test_ldadd)
tests_unit_test_shapes_LDADD        = $(sync_test_ldadd)
tests_unit_test_standstill_LDADD    = $(sync_test_ldadd)
tests_unit_test_witness_LDADD       = $(sync_test_ldadd)
