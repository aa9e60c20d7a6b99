# The raw client that Millrace is measured against; run.py measures.
noinst_PROGRAMS += %D%/bulk_raw
tests_bench_bulk_raw_SOURCES = %D%/bulk_raw.c
tests_bench_bulk_raw_LDADD   = $(CURL_LIBS)
EXTRA_DIST += %D%/run.py %D%/data.sql %D%/areas.py

# Builds by several nodes, and their simulation; delayed runs; what these stand in.
EXTRA_DIST += %D%/bench_world.py %D%/fills.py %D%/fills_model.py %D%/delayed.py

# Delivery alone, for comparison with bulk_raw.
noinst_PROGRAMS += %D%/bench_delivery
tests_bench_bench_delivery_SOURCES = %D%/bench_delivery.c
tests_bench_bench_delivery_LDADD   = $(program_libs)
# Rows a second of `binlog decode`; decode.py measures beside other decoders.
EXTRA_DIST += %D%/decode.py %D%/peers/java/Decode.java %D%/peers/java/pom.xml \
	%D%/peers/go/go.mod %D%/peers/go/main.go \
	%D%/peers/rust/Cargo.toml %D%/peers/rust/src/lib.rs \
	%D%/peers/rust/src/bin/mysql_cdc.rs %D%/peers/rust/src/bin/mysql_common.rs
noinst_PROGRAMS += %D%/bench_decode
tests_bench_bench_decode_SOURCES = %D%/bench_decode.c
tests_bench_bench_decode_LDADD   = $(program_libs)
# Anti-entropy trees: two sides of ten million entries.
noinst_PROGRAMS += %D%/bench_trees
tests_bench_bench_trees_SOURCES = %D%/bench_trees.c
tests_bench_bench_trees_LDADD   = $(program_libs)
