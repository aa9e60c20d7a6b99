# JSON and YAML, and diagnostics with line and caret.
libmillrace_a_SOURCES += \
	%D%/json.h \
	%D%/json_difference.c %D%/json_difference.h \
	%D%/json_hash.c %D%/json_hash.h \
	%D%/json_number.c %D%/json_number.h \
	%D%/json_reader.c \
	%D%/json_text.c \
	%D%/json_writer.c \
	%D%/problem.c %D%/problem.h \
	%D%/variable.c %D%/variable.h \
	%D%/yaml.c %D%/yaml.h \
	%D%/yaml_name.c %D%/yaml_name.h \
	%D%/yaml_read.c %D%/yaml_read.h \
	%D%/zone.c %D%/zone.h \
	%D%/zone_rule.c %D%/zone_rule.h
