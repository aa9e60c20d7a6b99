#include "config.h"

#include "src/cli/help.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMNS 92
#define NAME_COLUMNS 30

/* A name, and what it means; on the next line where the name is too long. */
static void add_row(struct buf *out, const char *name, const char *meaning)
{
    buf_append(out, str_from(name));
    if (strlen(name) > NAME_COLUMNS) {
        buf_append_char(out, '\n');
        name = "";
    }
    buf_printf(out, "%*s %s\n", NAME_COLUMNS - (int)strlen(name), "", meaning);
}

/* A section begins at this command of the table. */
static const struct {
    const char *command, *title;
} sections[] = {
    {"run", "Daemon"},
    {"apply", "Definitions"},
    {"status", "State"},
    {"topic list", "Topics, databases, tables"},
    {"index create", "Indexes"},
    {"dead-letter list", "Dead letters"},
    {"delayed list", "Delayed tables"},
    {"binlog decode", "Tools"},
};

static const char *section_of(const struct command *c)
{
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (strcmp(sections[i].command, c->name) == 0)
            return sections[i].title;
    return NULL;
}

/* Append text in lines of at most HELP_COLUMNS, indented by `indent` spaces.  Keeps "\n\n". */
static void wrap(struct buf *out, const char *text, int indent)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t word = strcspn(text, " \n");

        if (column > 0 && column + 1 + word > HELP_COLUMNS) {
            buf_append_char(out, '\n');
            column = 0;
        }
        if (column == 0) {
            buf_printf(out, "%*s", indent, "");
            column = (size_t)indent;
        } else {
            buf_append_char(out, ' ');
            column++;
        }
        buf_append(out, (struct str){text, word});
        column += word;
        text += word;
        if (strncmp(text, "\n\n", 2) == 0) {
            buf_append(out, STR("\n\n"));
            column = 0;
        }
        text += strspn(text, " \n");
    }
    buf_append_char(out, '\n');
}

static void add_options(struct buf *out, const struct command_option *options)
{
    for (const struct command_option *o = options; o->name != NULL; o++) {
        struct buf name = {0};

        if (o->letter != 0)
            buf_printf(&name, "  -%c, ", o->letter);
        else
            buf_append(&name, STR("      "));
        buf_printf(&name, "--%s%s%s", o->name, o->value != NULL ? " " : "",
                   o->value != NULL ? o->value : "");
        add_row(out, name.ptr, o->help);
        buf_free(&name);
    }
}

static void add_line(struct buf *out, const struct command *c)
{
    char name[80];

    snprintf(name, sizeof(name), "  %s%s%s", c->name, c->args[0] != '\0' ? " " : "", c->args);
    add_row(out, name, c->summary);
}

void help_overview(struct buf *out, const struct command_set *set)
{
    buf_append(out, STR("Millrace keeps search indexes equal to MySQL and MariaDB tables.\n\n"
                        "usage: millrace COMMAND [options]\n"));
    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        const char *section = section_of(c);

        if (c->hidden)
            continue;
        if (section != NULL)
            buf_printf(out, "\n%s\n", section);
        add_line(out, c);
    }
    buf_append(out, STR("\nOptions of every command\n"));
    add_options(out, set->options);
    buf_append(out, STR("\nFor more: millrace COMMAND --help, or man millrace.\n"));
}

void help_command(struct buf *out, const struct command_set *set, const struct command *c)
{
    buf_printf(out, "usage: millrace %s%s%s [options]\n\n", c->name,
               c->args[0] != '\0' ? " " : "", c->args);
    wrap(out, c->help != NULL ? c->help : c->summary, 0);
    if (c->options != NULL) {
        buf_append(out, STR("\nOptions\n"));
        add_options(out, c->options);
    }
    buf_append(out, STR("\nOptions of every command\n"));
    add_options(out, set->options);
    if (c->example != NULL)
        buf_printf(out, "\nExample\n  millrace %s\n", c->example);
}

static bool is_in_group(const struct command *c, const char *group)
{
    size_t len = strlen(group);

    return !c->hidden && strncmp(c->name, group, len) == 0 && c->name[len] == ' ';
}

bool help_group(struct buf *out, const struct command_set *set, const char *group)
{
    bool any = false;

    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        if (!is_in_group(c, group))
            continue;
        if (!any)
            buf_printf(out, "usage: millrace %s COMMAND [options]\n\n", group);
        any = true;
        add_line(out, c);
    }
    return any;
}

/* ---- the manual page ---- */

/* Append text for roff: no accidental requests, and hyphens that can be copied. */
static void roff(struct buf *out, const char *text)
{
    bool line_start = true;

    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            buf_append(out, STR("\\&"));
        line_start = false;
        if (*text == '\\') {
            buf_append(out, STR("\\e"));
        } else if (*text == '-') {
            buf_append(out, STR("\\-"));
        } else if (strncmp(text, "\n\n", 2) == 0) {
            buf_append(out, STR("\n.PP\n"));
            line_start = true;
            text++;
        } else {
            buf_append_char(out, *text);
        }
    }
}

static void roff_options(struct buf *out, const struct command_option *options)
{
    for (const struct command_option *o = options; o->name != NULL; o++) {
        buf_append(out, STR(".TP\n"));
        if (o->letter != 0)
            buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
        buf_append(out, STR("\\fB\\-\\-"));
        roff(out, o->name);
        buf_append(out, STR("\\fR"));
        if (o->value != NULL)
            buf_printf(out, " \\fI%s\\fR", o->value);
        buf_append_char(out, '\n');
        roff(out, o->help);
        buf_append_char(out, '\n');
    }
}

static void roff_command(struct buf *out, const struct command *c)
{
    buf_append(out, STR(".SS \"millrace "));
    roff(out, c->name);
    if (c->args[0] != '\0')
        buf_printf(out, " %s", c->args);
    buf_append(out, STR("\"\n"));
    if (c->help != NULL) {
        buf_printf(out, "%c", c->summary[0] - 'a' + 'A');
        roff(out, c->summary + 1);
        buf_append(out, STR(".\n.PP\n"));
        roff(out, c->help);
    } else {
        buf_printf(out, "%c", c->summary[0] - 'a' + 'A');
        roff(out, c->summary + 1);
        buf_append_char(out, '.');
    }
    buf_append_char(out, '\n');
    if (c->options != NULL)
        roff_options(out, c->options);
    if (c->example != NULL) {
        buf_append(out, STR(".PP\nExample: \\fBmillrace "));
        roff(out, c->example);
        buf_append(out, STR("\\fR\n"));
    }
}

static const char manual_head[] =
    ".\\\" Made from the command table by \"millrace manual\"; make update-docs makes it "
    "again.\n"
    ".TH MILLRACE 1 \"\" \"millrace " PACKAGE_VERSION "\" \"Millrace\"\n"
    ".SH NAME\n"
    "millrace \\- keep search indexes equal to MySQL and MariaDB tables\n"
    ".SH SYNOPSIS\n"
    ".B millrace\n"
    "\\fICOMMAND\\fR [\\fIoptions\\fR]\n"
    ".SH DESCRIPTION\n"
    "Millrace reads the binary log of MySQL and MariaDB servers and keeps indexes of "
    "Elasticsearch "
    "and OpenSearch equal to their tables.  \\fBmillrace run\\fR is the daemon; the other "
    "commands "
    "talk to it over its unix socket.\n"
    ".PP\n"
    "Without a daemon \\fBapply\\fR, \\fBexport\\fR, \\fBdoctor\\fR, \\fBexplain\\fR, "
    "\\fBmapping\\fR and the lists open the store themselves and lock it while they run.\n"
    ".PP\n"
    "Data goes to standard output, notes and progress to standard error.  With \\fB\\-o "
    "json\\fR "
    "the answer is one object whose \\fBschema\\fR names its form and version, and an error is "
    "one, too, the last line on standard error; docs/api.md describes them.\n";

static const char manual_tail[] =
    ".SH FILES\n"
    ".TP\n.I ./millrace.yaml, /etc/millrace/millrace.yaml\n"
    "The configuration, unless \\fB\\-\\-config\\fR names another.\n"
    ".TP\n.I DATA/millrace.sock\n"
    "The daemon's socket, mode 0660.  The daemon's user and root may use it.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B MILLRACE_\\fINAME\\fR\n"
    "A setting: its name in upper case, with two underscores between its parts, as in "
    "\\fBMILLRACE_DELIVERY__WORKERS\\fR.  Overrides the file.\n"
    ".TP\n.B NO_COLOR\n"
    "If set, the output has no colours.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\ndone\n"
    ".TP\n.B 1\nthe command failed, or a check found something\n"
    ".TP\n.B 2\nwrong usage\n"
    ".TP\n.B 75\nbusy or unreachable: try again\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "millrace apply shop.yaml\n"
    "millrace index create shop.orders\n"
    "millrace status\n"
    "millrace explain shop.orders 42\n"
    "millrace dead\\-letter replay \\-\\-table shop.orders\n"
    ".fi\n";

void help_manual(struct buf *out, const struct command_set *set)
{
    buf_append(out, str_from(manual_head));
    buf_append(out, STR(".SH OPTIONS\nEvery command takes these options.\n"));
    roff_options(out, set->options);
    buf_append(out, STR(".SH COMMANDS\n"));
    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;)
        if (!c->hidden)
            roff_command(out, c);
    buf_append(out, str_from(manual_tail));
}
