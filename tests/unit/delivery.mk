# Unit tests of this room.
EXTRA_DIST += %D%/game.h %D%/one_document.h %D%/outlet_answers.h \
	%D%/outlet_fixture.h %D%/outlet_model.h %D%/relief_model.h %D%/writes.h
unit_tests += \
	%D%/test_budget \
	%D%/test_bulk \
	%D%/test_bulk_response \
	%D%/test_bulk_verdict \
	%D%/test_document \
	%D%/test_document_areas \
	%D%/test_document_reads \
	%D%/test_drain \
	%D%/test_fuse \
	%D%/test_guard \
	%D%/test_late \
	%D%/test_letters \
	%D%/test_limiter \
	%D%/test_mark \
	%D%/test_outlet %D%/test_outlet_gate %D%/test_pace %D%/test_purge \
	%D%/test_ticket \
	%D%/test_touched \
	%D%/test_turnstile
tests_unit_test_budget_LDADD        = $(delivery_test_ldadd)
tests_unit_test_bulk_LDADD          = $(delivery_test_ldadd)
tests_unit_test_bulk_response_LDADD = $(delivery_test_ldadd)
tests_unit_test_bulk_verdict_LDADD  = $(delivery_test_ldadd)
tests_unit_test_document_LDADD      = $(delivery_test_ldadd)
tests_unit_test_document_areas_LDADD = $(delivery_test_ldadd)
tests_unit_test_document_reads_LDADD = $(delivery_test_ldadd)
tests_unit_test_drain_LDADD         = $(delivery_test_ldadd)
tests_unit_test_fuse_LDADD          = $(delivery_test_ldadd)
tests_unit_test_guard_LDADD         = $(delivery_test_ldadd)
tests_unit_test_late_LDADD          = $(delivery_test_ldadd)
tests_unit_test_letters_LDADD       = $(delivery_test_ldadd)
tests_unit_test_limiter_LDADD       = $(delivery_test_ldadd)
tests_unit_test_mark_LDADD          = $(delivery_test_ldadd)
tests_unit_test_purge_LDADD         = $(delivery_test_ldadd)
tests_unit_test_outlet_LDADD        = $(delivery_test_ldadd)
tests_unit_test_outlet_gate_LDADD   = $(delivery_test_ldadd)
tests_unit_test_pace_LDADD          = $(delivery_test_ldadd)
tests_unit_test_ticket_LDADD        = $(delivery_test_ldadd)
tests_unit_test_touched_LDADD       = $(delivery_test_ldadd)
tests_unit_test_turnstile_LDADD     = $(delivery_test_ldadd)

unit_tests += %D%/test_document_model %D%/test_gate_model %D%/test_outlet_model %D%/test_relief_model
tests_unit_test_gate_model_LDADD = $(delivery_test_ldadd)
tests_unit_test_outlet_model_LDADD = $(delivery_test_ldadd)
tests_unit_test_relief_model_LDADD = $(delivery_test_ldadd)
tests_unit_test_document_model_LDADD = libfakesearch.a $(delivery_test_ldadd)
