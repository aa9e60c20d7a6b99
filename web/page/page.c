#include "config.h"

#include "web/page/page.h"

#include "src/base/clock.h"
#include "src/base/human.h"
#include "web/page/html.h"
#include "web/page/page_style.h"

#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define REFRESH_SECONDS 5

/* How a state looks: a mark and a colour beside its word, never colour alone. */
static const struct look {
    const char *state, *css, *mark;
} looks[] = {
    {"running", "ok", "●"},    {"available", "ok", "●"},     {"connecting", "work", "◐"},
    {"changing", "work", "◐"}, {"fail", "bad", "■"},         {"stopped", "bad", "■"},
    {"waiting", "warn", "▲"},  {"held", "bad", "■"},         {"created", "off", "○"},
    {"lost", "warn", "▲"},     {"unavailable", "warn", "▲"}, {"astray", "bad", "■"},
    {"moving", "work", "◐"},   {NULL, "off", "?"},
};

static struct str text_of(const cJSON *o, const char *name)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));

    return s != NULL ? str_from(s) : (struct str){NULL, 0};
}

static double number_of(const cJSON *o, const char *name)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);

    return cJSON_IsNumber(m) && isfinite(m->valuedouble) ? m->valuedouble : 0;
}

static uint64_t count_of(const cJSON *o, const char *name)
{
    double n = number_of(o, name);

    return n > 0 && n < 1.8e19 ? (uint64_t)n : 0;
}

static const cJSON *list_of(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

static struct look look_of(struct str state)
{
    size_t i = 0;

    while (looks[i].state != NULL && !str_equal(state, str_from(looks[i].state)))
        i++;
    return looks[i];
}

/* ---- cells ---- */

typedef void (*format_fn)(struct buf *b, uint64_t n);

/* Append a member as a figure; a dash if it is unknown. */
static void add_figure(struct buf *b, const cJSON *o, const char *name, format_fn format)
{
    if (cJSON_IsNumber(list_of(o, name)))
        format(b, count_of(o, name));
    else
        buf_append_char(b, '-');
}

static void add_count(struct buf *b, const char *label, const cJSON *o, const char *name,
                      format_fn format)
{
    buf_printf(b, "<td class=number data-label=\"%s\">", label);
    add_figure(b, o, name, format);
    buf_append(b, STR("</td>"));
}

static void add_text(struct buf *b, const char *label, struct str text)
{
    buf_printf(b, "<td data-label=\"%s\"><span>", label);
    html_text(b, text);
    buf_append(b, STR("</span></td>"));
}

static void add_state(struct buf *b, struct str state)
{
    struct look look = look_of(state);

    buf_printf(
        b, "<td data-label=State><span class=\"state %s\"><span aria-hidden=true>%s</span> ",
        look.css, look.mark);
    html_text(b, state.len > 0 ? state : STR("unknown"));
    buf_append(b, STR("</span></td>"));
}

static void add_card(struct buf *b, const char *name, struct str value, const char *css)
{
    buf_printf(b, "<div class=card><span class=\"soft small\">%s</span><b class=\"%s\">", name,
               css);
    html_text(b, value);
    buf_append(b, STR("</b></div>"));
}

static void add_term(struct buf *b, const char *label, const cJSON *o, const char *name,
                     format_fn format)
{
    buf_printf(b, "<div><dt>%s</dt><dd>", label);
    add_figure(b, o, name, format);
    buf_append(b, STR("</dd></div>"));
}

/* ---- what needs someone ---- */

/* The checks that are not well: as HTML, and counts. */
struct troubles {
    struct buf html;
    size_t n, n_bad;
};

static void add_line(struct buf *b, const char *label, struct str text)
{
    if (text.len == 0)
        return;
    buf_printf(b, "<p>%s", label);
    html_text(b, text);
    buf_append(b, STR("</p>"));
}

static void add_check(struct troubles *t, const cJSON *check)
{
    const bool bad = str_equal(text_of(check, "status"), STR("fail"));
    struct buf *b = &t->html;

    t->n++;
    t->n_bad += bad;
    buf_printf(b, "<div class=\"trouble %s\"><strong>", bad ? "bad" : "warn");
    html_text(b, text_of(check, "group"));
    buf_append(b, STR("</strong> "));
    html_text(b, text_of(check, "message"));
    add_line(b, "Since: ", text_of(check, "since"));
    add_line(b, "Why it matters: ", text_of(check, "why"));
    add_line(b, "Way out: ", text_of(check, "fix"));
    buf_append(b, STR("</div>"));
}

static void add_troubles(struct troubles *t, const cJSON *status)
{
    const cJSON *check;

    cJSON_ArrayForEach (check, list_of(status, "checks"))
        if (cJSON_IsObject(check) && !str_equal(text_of(check, "status"), STR("ok")))
            add_check(t, check);
}

/* ---- the parts ---- */

static void add_lag_card(struct buf *b, const cJSON *topics)
{
    const cJSON *topic;
    struct buf text = {0};
    double worst = 0, rate = 0;
    bool known = true;

    cJSON_ArrayForEach (topic, topics) {
        known = known && cJSON_IsNumber(list_of(topic, "lag_seconds"));
        worst = fmax(worst, number_of(topic, "lag_seconds"));
        rate += number_of(topic, "rate");
    }
    if (!known && worst < 60)
        buf_append(&text, STR("unknown"));
    else
        human_seconds(&text, worst);
    add_card(b, "Worst lag", buf_str(&text), known && worst < 60 ? "" : "warn");
    buf_clear(&text);
    human_count(&text, rate > 0 && rate < 1e15 ? (uint64_t)llround(rate) : 0);
    add_card(b, "Changes a second", buf_str(&text), "");
    buf_free(&text);
}

static void add_cards(struct buf *b, const cJSON *status)
{
    const cJSON *search = list_of(status, "search"), *table;
    struct str health = text_of(search, "health");
    struct buf text = {0};
    uint64_t documents = 0, dead = 0;

    cJSON_ArrayForEach (table, list_of(status, "tables")) {
        documents += count_of(table, "documents");
        dead += count_of(table, "dead_letters");
    }
    buf_append(b, STR("<div class=cards>"));
    add_lag_card(b, list_of(status, "topics"));
    human_count(&text, documents);
    add_card(b, "Documents", buf_str(&text), "");
    buf_clear(&text);
    human_count(&text, dead);
    add_card(b, "Dead letters", buf_str(&text), dead > 0 ? "warn" : "");
    add_card(b, "Search engine", health.len > 0 ? health : STR("not reached"),
             str_equal(health, STR("green"))    ? "ok"
             : str_equal(health, STR("yellow")) ? "warn"
                                                : "bad");
    buf_append(b, STR("</div>\n"));
    buf_free(&text);
}

static void add_position(struct buf *b, const cJSON *topic)
{
    struct str gtid = text_of(topic, "gtid"), file = text_of(topic, "file");

    buf_append(b, STR("<td data-label=Position><span>"));
    if (file.len > 0) {
        buf_append(b, STR("<code>"));
        html_text(b, file);
        buf_printf(b, ":%" PRIu64 "</code>", count_of(topic, "position"));
    }
    if (gtid.len > 0)
        buf_append(b, STR("<br>"));
    buf_append(b, STR("<code class=soft>"));
    html_text(b, gtid);
    buf_append(b, STR("</code></span></td>"));
}

static void add_lag(struct buf *b, const cJSON *item)
{
    buf_append(b, STR("<td class=number data-label=Lag>"));
    if (!cJSON_IsNumber(list_of(item, "lag_seconds"))) {
        buf_append(b, STR("unknown</td>"));
        return;
    }
    buf_append(b, cJSON_IsTrue(list_of(item, "lag_at_most")) ? STR("≤ ") : STR(""));
    human_seconds(b, number_of(item, "lag_seconds"));
    buf_append(b, STR("</td>"));
}

/* The node that owns the topic, and how old its news is; only if several share the store. */
static void add_owner(struct buf *b, const cJSON *topic)
{
    if (!cJSON_IsString(list_of(topic, "owner")))
        return;
    buf_append(b, STR("<td data-label=Owner><span>"));
    html_text(b, text_of(topic, "owner"));
    if (number_of(topic, "told_ms") > 0) {
        buf_append(b, STR(" <span class=soft>"));
        human_seconds(b, number_of(topic, "told_ms") / 1000);
        buf_append(b, STR(" ago</span>"));
    }
    buf_append(b, STR("</span></td>"));
}

static void add_topic(struct buf *b, const cJSON *topic)
{
    buf_append(b, STR("<tr>"));
    html_element(b, "th scope=row", text_of(topic, "name"));
    add_state(b, text_of(topic, "state"));
    add_lag(b, topic);
    add_count(b, "Behind", topic, "lag_bytes", human_bytes);
    add_count(b, "Changes/s", topic, "rate", human_count);
    add_position(b, topic);
    add_text(b, "Server", text_of(topic, "server"));
    add_owner(b, topic);
    buf_append(b, STR("</tr>\n"));
}

static void add_topics(struct buf *b, const cJSON *topics)
{
    const cJSON *topic;

    buf_append(b, STR("<section><h2 id=topics>Topics</h2>"));
    if (cJSON_GetArraySize(topics) == 0) {
        buf_append(b, STR("<p class=empty>None yet. A topic is one MySQL or MariaDB server: "
                          "write a definition file and run <code>millrace apply FILE</code>."
                          "</p></section>\n"));
        return;
    }
    buf_append(b, STR("<table aria-labelledby=topics><thead><tr><th scope=col>Topic"
                      "<th scope=col>State<th scope=col class=number>Lag"
                      "<th scope=col class=number>Behind<th scope=col class=number>Changes/s"
                      "<th scope=col>Position<th scope=col>Server"));
    if (cJSON_IsString(list_of(cJSON_GetArrayItem(topics, 0), "owner")))
        buf_append(b, STR("<th scope=col>Owner"));
    buf_append(b, STR("</thead><tbody>\n"));
    cJSON_ArrayForEach (topic, topics)
        add_topic(b, topic);
    buf_append(b, STR("</tbody></table></section>\n"));
}

static void add_build_rows(struct buf *b, const cJSON *build)
{
    const uint64_t done = count_of(build, "rows_done"), total = count_of(build, "rows_total");

    buf_printf(b, " %.1f %% <span class=soft>· ", human_percent(done, total));
    human_count(b, done);
    buf_append(b, STR(" of about "));
    human_count(b, total > done ? total : done);
    buf_append(b, STR(" rows · "));
    human_count(b, count_of(build, "rate"));
    buf_append(b, STR("/s"));
    if (cJSON_IsNumber(list_of(build, "remaining_seconds"))) {
        buf_append(b, STR(" · "));
        human_seconds(b, number_of(build, "remaining_seconds"));
        buf_append(b, STR(" left"));
    }
    buf_append(b, STR("</span>"));
}

static void add_build(struct buf *b, const cJSON *build)
{
    const bool runs = cJSON_IsNumber(list_of(build, "rows_done"));

    if (!cJSON_IsObject(build)) {
        buf_append(b, STR("<td class=none></td>"));
        return;
    }
    buf_printf(b, "<td data-label=Build><span>v%" PRIu64, count_of(build, "version"));
    if (runs)
        add_build_rows(b, build);
    if (text_of(build, "waits_for").len > 0) {
        buf_append(b, STR("<span class=soft> · waits: "));
        html_text(b, text_of(build, "waits_for"));
        buf_append(b, STR("</span>"));
    }
    if (runs)
        buf_printf(b, "<progress max=100 value=%.1f aria-label=\"build\"></progress>",
                   human_percent(count_of(build, "rows_done"), count_of(build, "rows_total")));
    buf_append(b, STR("</span></td>"));
}

static void add_table(struct buf *b, const cJSON *table)
{
    uint64_t version = count_of(table, "version");

    buf_append(b, STR("<tr>"));
    html_element(b, "th scope=row", text_of(table, "table"));
    add_state(b, text_of(table, "state"));
    buf_append(b, STR("<td data-label=Index><span>"));
    html_text(b, text_of(table, "index"));
    if (version > 0)
        buf_printf(b, " <span class=soft>v%" PRIu64 "</span>", version);
    buf_append(b, STR("</span></td>"));
    add_lag(b, table);
    add_count(b, "Documents", table, "documents", human_count);
    add_count(b, "Dead letters", table, "dead_letters", human_count);
    add_build(b, cJSON_GetObjectItemCaseSensitive(table, "build"));
    buf_append(b, STR("</tr>\n"));
}

static void add_tables(struct buf *b, const cJSON *tables)
{
    const cJSON *table;

    buf_append(b, STR("<section><h2 id=tables>Tables</h2>"));
    if (cJSON_GetArraySize(tables) == 0) {
        buf_append(b, STR("<p class=empty>None yet. A table becomes searchable once it is "
                          "defined and <code>millrace index create TABLE</code> has built its "
                          "index.</p></section>\n"));
        return;
    }
    buf_append(b, STR("<table aria-labelledby=tables><thead><tr><th scope=col>Table"
                      "<th scope=col>State<th scope=col>Index<th scope=col class=number>Lag"
                      "<th scope=col class=number>Documents"
                      "<th scope=col class=number>Dead letters<th scope=col>Build</thead>"
                      "<tbody>\n"));
    cJSON_ArrayForEach (table, tables)
        add_table(b, table);
    buf_append(b, STR("</tbody></table></section>\n"));
}

static void add_delivery(struct buf *b, const cJSON *status)
{
    const cJSON *d = list_of(status, "delivery"), *c = list_of(status, "changes");

    buf_append(b, STR("<section><h2>Delivery</h2><dl>"));
    add_term(b, "Queued", d, "queued", human_count);
    add_term(b, "Being read again", d, "loading", human_count);
    add_term(b, "In flight", d, "in_flight", human_count);
    add_term(b, "Memory held", d, "bytes_held", human_bytes);
    add_term(b, "Requests", d, "requests", human_count);
    add_term(b, "Retries", d, "retries", human_count);
    buf_append(b, STR("</dl></section><section><h2>Row changes since the start</h2><dl>"));
    add_term(b, "Read", c, "read", human_count);
    add_term(b, "Delivered", c, "delivered", human_count);
    add_term(b, "Superseded", c, "superseded", human_count);
    add_term(b, "Filtered", c, "filtered", human_count);
    add_term(b, "Deferred", c, "deferred", human_count);
    add_term(b, "Purged", c, "purged", human_count);
    add_term(b, "Dead letters", c, "dead", human_count);
    add_term(b, "In flight", c, "in_flight", human_count);
    buf_append(b, STR("</dl></section>\n"));
}

/* Append a setting with its origin, unless it has its default.  Returns true if it did. */
static bool add_setting(struct buf *b, const cJSON *setting)
{
    const struct str origin = text_of(setting, "origin");

    if (origin.len == 0 || str_equal(origin, STR("default")))
        return false;
    buf_append(b, STR("<div>"));
    html_element(b, "dt", text_of(setting, "name"));
    buf_append(b, STR("<dd>"));
    html_text(b, text_of(setting, "value"));
    buf_append_char(b, ' ');
    html_element(b, "span class=\"soft small\"", origin);
    buf_append(b, STR("</dd></div>"));
    return true;
}

static void add_settings(struct buf *b, const cJSON *settings)
{
    bool any = false;
    const cJSON *s;

    buf_append(b, STR("<section><h2>Settings of delivery</h2><dl>"));
    cJSON_ArrayForEach (s, settings)
        any |= add_setting(b, s);
    buf_append(b, STR("</dl><p class=\"empty small\">"));
    buf_append(b, any ? STR("The others have their defaults") : STR("All have their defaults"));
    buf_append(b,
               STR(": <code>millrace config delivery get</code> lists them, "
                   "<code>millrace config delivery set NAME=VALUE</code> changes one at once."
                   "</p></section>\n"));
}

static void add_head(struct buf *b, const char *nonce)
{
    buf_printf(b,
               "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
               "<meta name=viewport content=\"width=device-width,initial-scale=1\">"
               "<meta http-equiv=refresh content=%d><meta name=robots content=noindex>"
               "<title>Millrace</title><style nonce=\"%s\">\n",
               REFRESH_SECONDS, nonce);
    buf_append(b, STR(PAGE_STYLE "</style></head>\n"));
}

static void add_header(struct buf *b, const cJSON *status, const struct troubles *t)
{
    buf_append(b, STR("<header><h1>Millrace</h1><span class=soft>"));
    html_text(b, text_of(status, "version"));
    if (text_of(status, "started").len > 0) {
        buf_append(b, STR(", since "));
        html_text(b, text_of(status, "started"));
    }
    buf_append(b, STR("</span>"));
    if (t->n == 0 && !cJSON_IsTrue(list_of(status, "ok")))
        buf_append(b, STR("<span class=\"verdict warn\">○ Not known yet</span>"));
    else if (t->n == 0)
        buf_append(b, STR("<span class=\"verdict ok\">● All is well</span>"));
    else
        buf_printf(b, "<span class=\"verdict %s\">%s %zu %s attention</span>",
                   t->n_bad > 0 ? "bad" : "warn", t->n_bad > 0 ? "■" : "▲", t->n,
                   t->n == 1 ? "thing needs" : "things need");
    buf_append(b, STR("</header>\n"));
}

static void add_footer(struct buf *b, const cJSON *status)
{
    const cJSON *search = list_of(status, "search");

    buf_append(b, STR("<footer class=\"soft small\">"));
    if (text_of(search, "flavor").len > 0) {
        html_text(b, text_of(search, "flavor"));
        buf_append_char(b, ' ');
        html_text(b, text_of(search, "version"));
        buf_append(b, STR(" at "));
        html_text(b, text_of(search, "url"));
        buf_append(b, STR(" · "));
    }
    buf_append(b, STR("as of "));
    human_time(b, clock_wall_ms());
    buf_printf(b,
               ", again every %d seconds · <a href=/metrics>metrics</a> · <a href=/readyz>ready"
               "</a> · in a terminal: <code>millrace status</code></footer>\n",
               REFRESH_SECONDS);
}

static void add_body(struct buf *b, const cJSON *status)
{
    struct troubles t = {0};

    add_troubles(&t, status);
    buf_append(b, STR("<body>"));
    add_header(b, status, &t);
    buf_append(b, STR("<main>"));
    add_cards(b, status);
    buf_append(b, buf_str(&t.html));
    add_topics(b, list_of(status, "topics"));
    add_tables(b, list_of(status, "tables"));
    add_delivery(b, status);
    add_settings(b, list_of(list_of(status, "delivery"), "settings"));
    buf_append(b, STR("</main>"));
    add_footer(b, status);
    buf_append(b, STR("</body></html>\n"));
    buf_free(&t.html);
}

void page_render(struct buf *out, struct str status, const char *nonce)
{
    cJSON *root = cJSON_ParseWithLength(status.ptr, status.len);

    add_head(out, nonce);
    if (cJSON_IsObject(root))
        add_body(out, root);
    else
        buf_append(out, STR("<body><main><h1>Millrace</h1><p>The status cannot be read; the "
                            "daemon's log says why.</p></main></body></html>\n"));
    cJSON_Delete(root);
}
