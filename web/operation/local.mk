# What each request takes and answers, and the forms of the answers.
libmillrace_a_SOURCES += \
	%D%/access.c \
	%D%/daemon.c \
	%D%/definitions.c \
	%D%/documents.c \
	%D%/index.c \
	%D%/operation.h \
	%D%/schema.c %D%/schema.h \
	%D%/words.c
nodist_libmillrace_a_SOURCES += web/operation/forms.c

# The forms of answers, and those of definitions, as JSON schemas in one C array.
web/operation/forms.c: %D%/forms.json docs/definition.schema.json %D%/embed.awk
	$(AM_V_GEN)$(MKDIR_P) web/operation && \
	$(AWK) -f $(srcdir)/web/operation/embed.awk $(srcdir)/web/operation/forms.json \
	  $(srcdir)/docs/definition.schema.json >$@.tmp && mv $@.tmp $@
CLEANFILES += web/operation/forms.c web/operation/forms.c.tmp
EXTRA_DIST += %D%/forms.json %D%/embed.awk
