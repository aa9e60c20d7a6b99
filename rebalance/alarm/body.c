#include "config.h"

#include "rebalance/alarm/body.h"

#include "rebalance/state/parts.h"
#include "src/base/human.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>

#define TEXT_MAX  2000 /* bytes: chats cut or refuse much longer ones */
#define ID_BYTES  16
#define TEST_CODE "alarms.test"

static const char *const state_names[N_ALARM_STATES] = {
    [ALARM_BEGINS] = "begins", [ALARM_LASTS] = "lasts", [ALARM_OVER] = "over"};

/* The same for every message of an alarm, whichever node sends it. */
static void append_id(struct buf *out, const struct alarm_sender *from, struct str code,
                      struct str object)
{
    unsigned char hash[32];
    struct buf text = {0};

    buf_printf(&text, "%" STR_FMT "\n%" STR_FMT "\n%" STR_FMT, STR_ARG(from->owner),
               STR_ARG(code), STR_ARG(object));
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text.ptr, text.len, hash) != 0)
        abort();
    buf_append_hex(out, (struct str){(const char *)hash, ID_BYTES});
    buf_free(&text);
}

/* ---- the text, which says all for people ---- */

static void append_age(struct buf *out, const struct alarm_message *m, int64_t now_ms)
{
    human_seconds(out, now_ms > m->since_ms ? (double)(now_ms - m->since_ms) / 1000 : 0);
}

static void append_text(struct buf *out, const struct alarm_sender *from,
                        const struct alarm_message *m, int64_t now_ms)
{
    buf_printf(out, "Millrace on %" STR_FMT ": ", STR_ARG(from->node));
    if (m == NULL) {
        buf_append(out, STR("this is a test of alarms; nothing is wrong"));
        return;
    }
    if (m->state == ALARM_OVER)
        buf_append(out, STR("over after "));
    else if (m->state == ALARM_LASTS)
        buf_append(out, STR("still, for "));
    if (m->state != ALARM_BEGINS) {
        append_age(out, m, now_ms);
        buf_append(out, STR(": "));
    }
    buf_printf(out, "%" STR_FMT ": %" STR_FMT, STR_ARG(m->object), STR_ARG(m->text));
    if (m->n > 1)
        buf_printf(out, " (%zu of this kind)", m->n);
    if (m->state != ALARM_OVER && m->fix.len > 0)
        buf_printf(out, "%sFix: %" STR_FMT, out->ptr[out->len - 1] == '?' ? " " : ". ",
                   STR_ARG(m->fix));
}

/* A character that is cut becomes one that stands for it. */
static void put_cut(struct json_writer *w, struct str key, struct str text)
{
    json_put_string(w, key, (struct str){text.ptr, text.len < TEXT_MAX ? text.len : TEXT_MAX});
}

/* ---- the object ---- */

void alarm_body_begin(struct buf *json, const struct alarm_sender *from,
                      const struct alarm_message *message, int64_t now_ms)
{
    const struct alarm_message *m = message;
    const struct str code = m != NULL ? m->code : STR(TEST_CODE);
    const struct str object = m != NULL ? m->object : STR(ALARM_OBJECT);
    struct json_writer w = {.out = json};
    struct buf id = {0}, text = {0};

    append_id(&id, from, code, object);
    append_text(&text, from, m, now_ms);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/alarm/1");
    json_put_string(&w, STR("id"), buf_str(&id));
    json_put_cstr(&w, STR("state"), m != NULL ? state_names[m->state] : "test");
    json_put_string(&w, STR("code"), code);
    json_put_string(&w, STR("object"), object);
    json_put_string(&w, STR("node"), from->node);
    json_put_cstr(&w, STR("severity"), m != NULL && m->is_failure ? "critical" : "warning");
    put_cut(&w, STR("text"), buf_str(&text));
    put_cut(&w, STR("fix"), m != NULL && m->state != ALARM_OVER ? m->fix : STR(""));
    json_put_u64(&w, STR("count"), m != NULL ? m->n : 1);
    coordinator_put_time(&w, STR("since"), m != NULL ? m->since_ms : now_ms);
    buf_free(&id);
    buf_free(&text);
}

void alarm_body_end(struct buf *json, int64_t sent_ms)
{
    struct json_writer w = {.out = json, .comma = true};

    coordinator_put_time(&w, STR("sent"), sent_ms);
    json_close_object(&w);
}
