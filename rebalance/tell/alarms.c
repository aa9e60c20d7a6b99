#include "config.h"

#include "rebalance/tell/alarms.h"

#include "rebalance/admin/status.h"
#include "rebalance/alarm/body.h"
#include "rebalance/alarm/book_text.h"
#include "rebalance/alarm/outbox.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/view/known.h"
#include "rebalance/view/view.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/file/draft_file.h"
#include "src/file/whole_file.h"
#include "src/net/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS       4   /* within alarms.after */
#define LOOK_MIN_MS 200 /* between two looks */
#define LOOK_MAX_MS 5000
#define WANT_MS     10000 /* the engine and the store are asked so often, as for a scrape */

struct alarms {
    struct alarm_book *book; /* the thread's, like all but thread */
    int64_t every_ms, want_ms;
    uint64_t stored_turn; /* of the book as the file has it */
    struct buf path;
    pthread_t thread;
};

/* ---- opening ---- */

static bool open_hooks(const struct alarm_options *opt, const struct stop *stop,
                       struct hook **hooks, struct err *err)
{
    for (size_t i = 0; i < opt->n_urls; i++) {
        const struct hook_options h = {.section = "alarms",
                                       .url = opt->urls[i],
                                       .secret = opt->secret,
                                       .ca_file = opt->ca_file,
                                       .allow_private = opt->allow_private,
                                       .allow_http = opt->allow_http,
                                       .stop = stop};

        if (!hook_open(&hooks[i], &h, err)) {
            for (size_t k = 0; k < i; k++)
                hook_close(hooks[k]);
            return err_wrap(err, "alarms.url");
        }
    }
    return true;
}

static bool check_number(const struct alarm_options *opt, struct err *err)
{
    return opt->n_urls <= ALARM_RECEIVERS_MAX ||
           err_set(err, ERR_REJECT, "alarms.url has %zu receivers; fix: give it %d at most",
                   opt->n_urls, ALARM_RECEIVERS_MAX);
}

bool alarm_options_check(const struct alarm_options *opt, struct err *err)
{
    struct hook *hooks[ALARM_RECEIVERS_MAX];

    if (!check_number(opt, err) || !open_hooks(opt, NULL, hooks, err))
        return false;
    for (size_t i = 0; i < opt->n_urls; i++)
        hook_close(hooks[i]);
    return true;
}

/* Without the file, or with a damaged one, each alarm begins again. */
static void load(struct alarms *a)
{
    struct buf text = {0};
    struct err err = {0};

    if (whole_file_read(a->path.ptr, &text, NULL)) {
        if (!alarm_book_load(a->book, buf_str(&text), clock_mono_ms(), &err))
            log_failure(LOG_WARN, &err, "the file of open alarms is damaged",
                        KV("file", (const char *)a->path.ptr));
    } else if (errno != ENOENT) {
        log_warn("the file of open alarms cannot be read",
                 KV("file", (const char *)a->path.ptr), KV("why", strerror(errno)));
    }
    buf_free(&text);
}

static int64_t look_every_ms(int64_t after_ms)
{
    const int64_t ms = after_ms / LOOKS;

    return ms < LOOK_MIN_MS ? LOOK_MIN_MS : ms < LOOK_MAX_MS ? ms : LOOK_MAX_MS;
}

bool coordinator_open_alarms(struct coordinator *co, const struct alarm_options *opt,
                             struct err *err)
{
    const struct alarm_limits limits = {.after_ms = opt->after_ms,
                                        .after_warning_ms = opt->after_warning_ms,
                                        .repeat_ms = opt->repeat_ms,
                                        .open_max = ALARMS_OPEN_MAX,
                                        .minute_max = ALARMS_MINUTE_MAX};
    struct hook *hooks[ALARM_RECEIVERS_MAX];

    if (opt->n_urls == 0)
        return true;
    if (!check_number(opt, err) || !open_hooks(opt, &co->stop, hooks, err))
        return false;
    co->outbox = alarm_outbox_new(hooks, opt->n_urls, &co->stop);
    co->alarms = mem_alloc(1, sizeof(*co->alarms));
    co->alarms->book = alarm_book_new(&limits);
    co->alarms->every_ms = look_every_ms(opt->after_ms);
    buf_printf(&co->alarms->path, "%s/alarms.json", co->opt.data_dir);
    return true;
}

void alarms_free(struct alarms *a)
{
    if (a == NULL)
        return;
    alarm_book_free(a->book);
    buf_free(&a->path);
    free(a);
}

/* ---- the file ---- */

static bool write_all(int fd, struct str text)
{
    for (size_t done = 0; done < text.len;) {
        const ssize_t n = write(fd, text.ptr + done, text.len - done);

        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool store(const struct alarms *a, struct err *err)
{
    struct draft_file file = {0};
    struct buf text = {0};
    bool ok;

    if (!draft_file_open(&file, a->path.ptr, 0600, err))
        return false;
    alarm_book_append(a->book, &text);
    ok = write_all(file.fd, buf_str(&text)) ||
         err_set_code(err, ERR_RETRY, "errno", errno, "%s: %s", a->path.ptr, strerror(errno));
    buf_free(&text);
    if (ok)
        return draft_file_keep(&file, true, err);
    draft_file_drop(&file);
    return false;
}

/*
 * What no receiver has taken yet is not in the file: after a restart it is said anew.  If
 * the file cannot be written, the next change tries again.
 */
static void store_if_changed(struct coordinator *co)
{
    struct alarms *a = co->alarms;
    const uint64_t turn = alarm_book_turn(a->book);
    struct err err = {0};

    if (turn == a->stored_turn || !alarm_outbox_is_told(co->outbox))
        return;
    a->stored_turn = turn;
    if (!store(a, &err))
        log_failure(LOG_WARN, &err, "the open alarms could not be stored");
}

/* ---- the thread ---- */

static struct alarm_sender sender(const struct coordinator *co)
{
    return (struct alarm_sender){str_from(co->identity.name), str_from(co->identity.owner)};
}

static void say(void *ctx, const struct alarm_message *m)
{
    static const char *const words[N_ALARM_STATES] = {
        [ALARM_BEGINS] = "begins", [ALARM_LASTS] = "lasts", [ALARM_OVER] = "over"};
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    const struct alarm_sender from = sender(co);
    struct buf body = {0};

    log_info("an alarm", KV("state", words[m->state]), KV("code", m->code),
             KV("object", m->object));
    alarm_body_begin(&body, &from, m, clock_wall_ms());
    alarm_outbox_put(co->outbox, buf_str(&body));
    buf_free(&body);
}

static void look(struct coordinator *co)
{
    struct coordinator_view *v = coordinator_view_new(co);
    struct alarm_look l = {.say = say, .ctx = co};
    struct doctor_list checks;

    doctor_init(&checks, v->arena);
    (void)coordinator_judge(co, v, &checks);
    l.findings = alarm_findings(co, v, &checks, &l.n);
    l.now_ms = clock_mono_ms();
    l.wall_ms = clock_wall_ms();
    alarm_book_look(co->alarms->book, &l);
    coordinator_view_free(v);
}

/* An engine or a store that nobody looks at is asked less often. */
static void want(struct coordinator *co)
{
    if (clock_mono_ms() < co->alarms->want_ms)
        return;
    coordinator_want(co);
    co->alarms->want_ms = clock_mono_ms() + WANT_MS;
}

static void *alarms_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    struct alarms *a = co->alarms;
    int64_t look_ms = clock_mono_ms(), wait_ms = 0;

    load(a);
    while (!stop_wait(&co->stop, wait_ms)) {
        want(co);
        if (clock_mono_ms() >= look_ms) {
            look(co);
            look_ms = clock_mono_ms() + a->every_ms;
        }
        alarm_outbox_send(co->outbox, clock_mono_ms());
        store_if_changed(co);

        const int64_t due_ms = alarm_outbox_due_ms(co->outbox);

        wait_ms = (due_ms < look_ms ? due_ms : look_ms) - clock_mono_ms();
        wait_ms = wait_ms > 0 ? wait_ms : 0;
    }
    return NULL;
}

void coordinator_start_alarms(struct coordinator *co)
{
    if (co->alarms != NULL)
        co->alarms->thread = thread_start("alarms", alarms_main, co);
}

void coordinator_join_alarms(struct coordinator *co)
{
    if (co->alarms != NULL)
        pthread_join(co->alarms->thread, NULL);
}

/* ---- a test ---- */

bool coordinator_test_alarms(struct coordinator *co, struct buf *json, struct err *err)
{
    const struct alarm_sender from = sender(co);
    const int64_t now_ms = clock_wall_ms();
    struct buf body = {0};

    if (co->outbox == NULL)
        return err_set_code(err, ERR_REJECT, "http", 409,
                            "no receiver of alarms is configured; fix: set alarms.url in the "
                            "configuration and start the daemon again");
    alarm_body_begin(&body, &from, NULL, now_ms);
    alarm_body_end(&body, now_ms);
    alarm_outbox_test(co->outbox, buf_str(&body), json);
    buf_free(&body);
    return true;
}
