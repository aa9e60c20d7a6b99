# Tests that need a server beside them; with_mariadb.sh, with_tls_server.sh and
# with_zookeeper.sh start private ones.
dist_noinst_SCRIPTS += %D%/make_certificates.sh %D%/with_mariadb.sh %D%/with_tls_server.sh \
	%D%/with_zookeeper.sh tools/lib.sh tools/zookeeper/node
EXTRA_DIST          += %D%/parts.h %D%/server.h

if HAVE_CMOCKA
# Delivery against a search engine in memory.
check_LIBRARIES += libdeliveryrig.a
libdeliveryrig_a_SOURCES = \
	%D%/delivery_rig.c %D%/delivery_rig.h %D%/delivery_rig_parts.h \
	%D%/delivery_rig_calls.c %D%/delivery_rig_calls.h \
	%D%/delivery_rig_check.c \
	%D%/delivery_rig_reads.c %D%/delivery_rig_reads.h \
	%D%/delivery_rig_submit.c \
	%D%/delivery_rig_wait.c
delivery_rig_ldadd = libdeliveryrig.a $(LDADD)
# The longest begin first, so that none is left at the end.
delivery_tests = \
	%D%/test_delivery_too_large \
	%D%/test_delivery_bounds \
	%D%/test_delivery_entries \
	%D%/test_delivery_fuse \
	%D%/test_engines \
	%D%/test_delivery_addresses \
	%D%/test_delivery_answers \
	%D%/test_delivery_load \
	%D%/test_delivery_held \
	%D%/test_delivery \
	%D%/test_delivery_failures \
	%D%/test_delivery_guests \
	%D%/test_delivery_purge \
	%D%/test_delivery_areas \
	%D%/test_delivery_mark \
	%D%/test_delivery_drain \
	%D%/test_delivery_place \
	%D%/test_delivery_bad_documents \
	%D%/test_delivery_bad_day \
	%D%/test_stored_deletes \
	%D%/test_fill_chunk \
	%D%/test_signed \
	%D%/test_delivery_statistics \
	%D%/test_delivery_routed
check_PROGRAMS += $(delivery_tests)
TESTS          += $(delivery_tests)
tests_component_test_delivery_LDADD               = $(delivery_rig_ldadd)
tests_component_test_delivery_answers_LDADD       = $(delivery_rig_ldadd)
tests_component_test_delivery_routed_LDADD        = $(delivery_rig_ldadd)
tests_component_test_delivery_areas_LDADD         = $(delivery_rig_ldadd)
tests_component_test_delivery_bad_day_LDADD       = $(delivery_rig_ldadd)
tests_component_test_delivery_bad_documents_LDADD = $(delivery_rig_ldadd)
tests_component_test_delivery_bounds_LDADD        = $(delivery_rig_ldadd)
tests_component_test_delivery_drain_LDADD         = $(delivery_rig_ldadd)
tests_component_test_delivery_place_LDADD         = $(delivery_rig_ldadd)
tests_component_test_delivery_failures_LDADD      = $(delivery_rig_ldadd)
tests_component_test_delivery_too_large_LDADD     = $(delivery_rig_ldadd)
tests_component_test_delivery_purge_LDADD         = $(delivery_rig_ldadd)
tests_component_test_delivery_statistics_LDADD    = $(delivery_rig_ldadd)
tests_component_test_delivery_entries_LDADD       = $(delivery_rig_ldadd)
tests_component_test_delivery_fuse_LDADD          = $(delivery_rig_ldadd)
tests_component_test_fill_chunk_LDADD     = libdeliveryrig.a $(LDADD)
tests_component_test_stored_deletes_LDADD = libdeliveryrig.a $(LDADD)
tests_component_test_engines_LDADD                = $(delivery_rig_ldadd)
tests_component_test_signed_LDADD                 = $(delivery_rig_ldadd)
tests_component_test_delivery_addresses_LDADD     = $(delivery_rig_ldadd)
tests_component_test_delivery_held_LDADD          = $(delivery_rig_ldadd)
tests_component_test_delivery_guests_LDADD        = $(delivery_rig_ldadd)
tests_component_test_delivery_load_LDADD          = $(delivery_rig_ldadd)
tests_component_test_delivery_mark_LDADD          = $(delivery_rig_ldadd)

component_tests = \
	%D%/test_buckets \
	%D%/test_catalog \
	%D%/test_definition_live \
	%D%/test_http_tls \
	%D%/test_loader \
	%D%/test_log_reader \
	%D%/test_mysql \
	%D%/test_stall_watchdog \
	%D%/test_read_view \
	%D%/test_area_script \
	%D%/test_search \
	%D%/test_shared \
	%D%/test_survey \
	%D%/test_transport
tests_component_test_buckets_SOURCES = %D%/test_buckets.c %D%/bucket_rig.c %D%/bucket_rig.h
tests_component_test_loader_SOURCES  = %D%/test_loader.c %D%/loader_parts.h %D%/loader_delayed.c %D%/loader_roots.c
tests_component_test_transport_SOURCES = %D%/test_transport.c %D%/transport_trouble.c %D%/transport_rig.h

# The program itself, with nothing beside it.
TESTS      += %D%/test_daemon.tap
EXTRA_DIST += %D%/test_daemon.tap

# What it says of a live server's log.
TESTS      += %D%/test_binlog_live.tap
EXTRA_DIST += %D%/test_binlog_live.tap %D%/binlog_live.sh

# The web server over a coordinator that does nothing.
check_PROGRAMS += %D%/test_web %D%/test_web_door %D%/test_web_port %D%/test_web_shared %D%/test_web_stream \
	%D%/test_web_tls %D%/test_web_words
TESTS          += %D%/test_web %D%/test_web_door %D%/test_web_port %D%/test_web_shared %D%/test_web_stream \
	%D%/test_web_tls %D%/test_web_words
EXTRA_DIST     += %D%/web_rig.h
tests_component_test_web_LDADD      = $(web_fake_ldadd)
tests_component_test_web_door_LDADD = $(web_fake_ldadd)
tests_component_test_web_port_LDADD = $(web_fake_ldadd)
tests_component_test_web_tls_LDADD = $(web_fake_ldadd)
tests_component_test_web_words_LDADD = $(web_fake_ldadd)
tests_component_test_web_shared_LDADD = $(web_fake_ldadd)
tests_component_test_web_stream_LDADD = $(web_fake_ldadd)

check_PROGRAMS += $(component_tests)
TESTS          += $(component_tests:=.tap)
EXTRA_DIST     += $(component_tests:=.tap)

# One suite, once on each kind of store.
check_LIBRARIES += libstorerig.a
libstorerig_a_SOURCES = %D%/store_rig.c %D%/store_rig.h
store_tests = \
	%D%/test_store_sqlite.tap %D%/test_store_mysql.tap \
	%D%/test_store_faults_sqlite.tap %D%/test_store_faults_mysql.tap \
	%D%/test_store_log.tap
check_PROGRAMS += %D%/test_store %D%/test_store_faults %D%/test_store_log
TESTS          += $(store_tests)
EXTRA_DIST     += $(store_tests) %D%/store_v1.sqlite.sql %D%/store_v1.mysql.sql
tests_component_test_store_SOURCES      = %D%/test_store.c %D%/store_builds.c %D%/store_snapshot.c %D%/store_whole_table.c %D%/store_midnights.c %D%/store_audit.c %D%/store_retired.c %D%/store_turns.c %D%/store_fan_outs.c %D%/store_gone.c %D%/store_kept_searches.c %D%/store_owned.c %D%/store_purged.c \
	%D%/store_build_log.c %D%/store_letters.c %D%/store_followed.c %D%/store_told.c %D%/store_wishes.c %D%/store_words.c \
	%D%/store_parts.h
tests_component_test_store_LDADD        = libstorerig.a $(LDADD)
tests_component_test_store_faults_LDADD = libstorerig.a $(LDADD)
tests_component_test_store_log_LDADD    = libstorerig.a $(LDADD)

# The doctor, at a server that writes a log and at one that does not.
check_PROGRAMS += %D%/test_doctor
TESTS          += %D%/test_doctor.tap %D%/test_doctor_no_log.tap
EXTRA_DIST     += %D%/test_doctor.tap %D%/test_doctor_no_log.tap

# The coordination at a ZooKeeper.
if HAVE_ZOOKEEPER
check_PROGRAMS += %D%/test_zookeeper
endif
TESTS      += %D%/test_zookeeper.tap
EXTRA_DIST += %D%/test_zookeeper.tap
tests_component_test_zookeeper_SOURCES = %D%/test_zookeeper.c %D%/zookeeper_locks.c \
	%D%/zookeeper_members.c \
	%D%/zookeeper_nodes.c %D%/zookeeper_proxy.c %D%/zookeeper_proxy.h %D%/zookeeper_rig.c \
	%D%/zookeeper_rig.h %D%/zookeeper_rights.c %D%/zookeeper_sessions.c %D%/zookeeper_system.c \
	%D%/zookeeper_system.h %D%/zookeeper_time.c %D%/zookeeper_values.c
endif
