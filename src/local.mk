# Services: one foreign system each.  libservice.a
noinst_LIBRARIES += libservice.a
libservice_a_SOURCES = \
	%D%/address.c %D%/address.h \
	%D%/address_set.c %D%/address_set.h \
	%D%/sigv4.c %D%/sigv4.h \
	%D%/renewed_key.c %D%/renewed_key.h \
	%D%/http.h \
	%D%/http_client.c %D%/http_client.h \
	%D%/http_exchange.c %D%/http_exchange.h \
	%D%/json.h %D%/json_reader.c %D%/json_text.c %D%/json_writer.c \
	%D%/statistic.c %D%/statistic.h \
	%D%/metric.c %D%/metric.def %D%/metric.h %D%/metric_process.c \
	%D%/mysql.c %D%/mysql.h %D%/mysql_errors.c %D%/mysql_errors.h \
	%D%/mysql_quote.c \
	%D%/mysql_trace.c %D%/mysql_trace.h \
	%D%/problem.c %D%/problem.h \
	%D%/engine.c %D%/engine.h \
	%D%/refusal.c %D%/refusal.h \
	%D%/search.c %D%/search.h %D%/search_index.c \
	%D%/search_pages.c %D%/search_pages.h \
	%D%/search_nodes.c %D%/search_nodes.h \
	%D%/search_sniff.c %D%/search_sniff.h \
	%D%/setting.c %D%/setting.h %D%/setting_table.c \
	%D%/yaml.c %D%/yaml.h \
	%D%/yaml_read.c %D%/yaml_read.h
libservice_a_SOURCES += \
	%D%/file_lock.c %D%/file_lock.h \
	%D%/secret_file.c %D%/secret_file.h \
	%D%/whole_file.c %D%/whole_file.h \
	%D%/migrate.c %D%/migrate.h \
	%D%/store.c %D%/store.h %D%/store_index.c %D%/store_shape.c %D%/store_trouble.c \
	%D%/store_fan_out.c %D%/store_fan_out.h \
	%D%/store_purged.c %D%/store_purged.h \
	%D%/store_backend.c %D%/store_backend.h \
	%D%/store_core.c %D%/store_core.h \
	%D%/sqlite_sum.c %D%/sqlite_sum.h \
	%D%/store_mysql.c %D%/store_sqlite.c
nodist_libservice_a_SOURCES = sql/migrations.c

service_libs = libservice.a $(base_libs)
