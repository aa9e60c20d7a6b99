# The status page.
libmillrace_a_SOURCES += \
	%D%/html.c %D%/html.h \
	%D%/page.c %D%/page.h
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
