#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

#define ROLE "role", 'r', "ROLE", "viewer, operator or admin", "viewer operator admin"

#define ROWS "rows", 'w', "yes|no", "whether a viewer sees rows and documents (no)", "yes no"

static const struct command_option user_add_options[] = {{ROLE}, {ROWS}, TRY, END};
static const struct command_option user_set_options[] = {
    {ROLE}, {ROWS}, {"password", 'p', NULL, "ask for a new password", NULL}, TRY, END};
static const struct command_option token_add_options[] = {
    {ROLE}, {ROWS}, {"days", 'd', "N", "it ends after so many days (90)", NULL}, TRY, END};

static const struct command_option token_set_options[] = {
    {ROLE}, {ROWS}, {"days", 'd', "N", "it ends after so many days from now", NULL},
    TRY,    WHY,    END};

static const struct command list[] = {
    {"user add", "NAME", "add a user who may log in at the port",
     "Asks for the password, or reads it from the first line of standard input if that is no "
     "terminal.  A viewer sees states and definitions, but no rows without --rows yes; an "
     "operator also sees "
     "rows, and starts, pauses and repairs; an admin also changes definitions, settings and "
     "users.  "
     "On the unix socket the daemon's user and root are admins, without any of this.",
     NEED_STORE, command_user_add, NULL, 1, 1, user_add_options, NULL, false,
     "user add anna --role viewer --rows yes"},
    {"user set", "NAME", "change a user's role, password, or sight of rows",
     "A new role counts at once, a new password ends the user's log-ins.", NEED_STORE,
     command_user_set, NULL, 1, 1, user_set_options, "user", false,
     "user set anna --role admin"},
    LIST("user", "users", "", NULL, "user list"),
    GET("user", "user get anna"),
    DELETE("user", "The user's log-ins end at once.", "user delete anna"),
    {"token add", "NAME", "make a token for a script",
     "Prints the token, which nobody can see again.  A script sends it as Authorization: "
     "Bearer TOKEN.",
     NEED_STORE, command_token_add, NULL, 1, 1, token_add_options, NULL, false,
     "token add deploy --role operator --days 30"},
    {"token set", "NAME", "change a token's role, end, or sight of rows",
     "The token stays the same text, so no script needs another one.  A new role counts at "
     "once.",
     NEED_STORE, command_token_set, NULL, 1, 1, token_set_options, "token", false,
     "token set deploy --role viewer --days 7"},
    LIST("token", "tokens of scripts", "", NULL, "token list"),
    GET("token", "token get deploy"),
    DELETE("token", "Whoever sends it is refused from then on.", "token delete deploy"),
};

const struct command_rows access_rows = {list, ARRAY_LEN(list)};
