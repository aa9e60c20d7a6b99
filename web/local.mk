# API and page.
libmillrace_a_SOURCES += \
	%D%/api.h \
	%D%/api_dead_letter.c \
	%D%/api_definitions.c \
	%D%/api_delayed.c \
	%D%/api_delivery.c \
	%D%/api_index.c \
	%D%/api_node.c \
	%D%/api_pause.c \
	%D%/api_status.c \
	%D%/api_verify.c \
	%D%/body.c %D%/body.h \
	%D%/delayed_order.c %D%/delayed_order.h \
	%D%/door.c %D%/door.h \
	%D%/head.c %D%/head.h \
	%D%/html.c %D%/html.h \
	%D%/letter_filter.c %D%/letter_filter.h \
	%D%/listen.c %D%/listen.h \
	%D%/page.c %D%/page.h \
	%D%/pass_on.c %D%/pass_on.h \
	%D%/pool.c %D%/pool.h \
	%D%/request.c %D%/request.h \
	%D%/routes.c %D%/routes.h \
	%D%/server.c %D%/server.h \
	%D%/wishes.c %D%/wishes.h
nodist_libmillrace_a_SOURCES += %D%/page_style.h

# The style sheet as a C string, without comments and indentation.
%D%/page_style.h: %D%/page.css
	$(AM_V_GEN)$(MKDIR_P) %D% && $(AWK) 'BEGIN { print "#define PAGE_STYLE \\" } \
	  /^\/\*.*\*\/$$/ { next } \
	  { sub(/^ +/, ""); gsub(/["\\]/, "\\\\&"); if ($$0 != "") print "    \"" $$0 "\\n\" \\" } \
	  END { print "    \"\"" }' $(srcdir)/%D%/page.css > $@
BUILT_SOURCES += %D%/page_style.h
CLEANFILES    += %D%/page_style.h
EXTRA_DIST    += %D%/page.css
