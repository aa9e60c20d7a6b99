#include "config.h"

#include "src/cli/commands.h"

#include "src/app/app.h"
#include "src/cli/client.h"
#include "src/cli/session.h"
#include "src/cli/settings.h"
#include "src/config/configuration.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>

/*
 * Note a setting whose value in the daemon differs from the one a daemon started now would
 * have.
 */
static void compare(struct buf *note, struct str item, struct str ours)
{
    const struct render_style plain = {0};
    struct buf name = {0}, theirs = {0}, mine = {0}, origin = {0};
    struct json_reader r;
    struct str other;

    render_value(&name, plain, item, "/name", RENDER_TEXT);
    render_value(&theirs, plain, item, "/value", RENDER_TEXT);
    render_value(&origin, plain, item, "/origin", RENDER_TEXT);
    json_reader_init(&r, ours);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &other)) {
            struct buf other_name = {0};

            render_value(&other_name, plain, other, "/name", RENDER_TEXT);
            if (str_equal(buf_str(&other_name), buf_str(&name)))
                render_value(&mine, plain, other, "/value", RENDER_TEXT);
            buf_free(&other_name);
        }
    if (!str_equal(buf_str(&theirs), buf_str(&mine)))
        buf_printf(note, "the running daemon still has %s: %s (%s)\n", name.ptr,
                   theirs.len > 0 ? theirs.ptr : "(not set)", origin.ptr);
    buf_free(&name);
    buf_free(&theirs);
    buf_free(&mine);
    buf_free(&origin);
}

static void compare_all(struct buf *note, struct str theirs, struct str ours)
{
    struct json_reader r;
    struct str items, mine, item;

    if (!json_find(theirs, "/items", &items) || !json_find(ours, "/items", &mine))
        return;
    json_reader_init(&r, items);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &item))
        compare(note, item, mine);
}

/* Print where a running daemon has other settings than these, if we may ask it. */
static void note_differences(const struct configuration *c)
{
    struct buf socket = {0}, ours = {0}, note = {0};
    struct client_answer theirs = {0};
    struct client *client = NULL;
    struct err err = {0};

    app_socket_path(&socket, c);
    configuration_append_json(c, &ours);
    if (client_connect(&client, socket.ptr, &err) &&
        client_call(client, METHOD_GET, STR("/api/v1/config"), STR(""), &theirs, &err))
        compare_all(&note, buf_str(&theirs.body), buf_str(&ours));
    if (note.len > 0)
        fputs(note.ptr, stderr);
    client_close(client);
    buf_free(&theirs.body);
    buf_free(&socket);
    buf_free(&ours);
    buf_free(&note);
}

int command_config_show(const struct invocation *inv)
{
    const char *form = invocation_value(inv, "output");
    struct buf out = {0};
    struct err err = {0};
    struct configuration *c = command_settings(inv, SETTINGS_FOR_PEOPLE, &err);

    if (c == NULL)
        return command_fail(&err);
    if (form != NULL && strcmp(form, "json") == 0)
        configuration_append_json(c, &out);
    else
        configuration_append_yaml(c, invocation_has(inv, "origin"), &out);
    note_differences(c);
    configuration_free(c);

    int code = session_put(buf_str(&out));

    buf_free(&out);
    return code;
}
