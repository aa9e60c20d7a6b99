/*
 * What is to be seen of delivery in the engine and in its metrics.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/metric/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void rig_check(struct rig *r, int id, uint64_t version, const char *text)
{
    char name[16];
    struct buf found = {0};

    snprintf(name, sizeof(name), "%d", id);

    struct fake_document doc = fake_search_get(r->fake, "orders_v2", name);

    assert_true(doc.found);
    if (version != 0)
        assert_int_equal(doc.version, version);
    if (text != NULL) {
        assert_true(json_find_text(buf_str(&doc.body), "/text", &found));
        assert_string_equal(found.ptr, text);
    }
    buf_free(&found);
    buf_free(&doc.body);
}

void rig_check_parts(struct rig *r, int id, uint64_t version, const char *text,
                     const char *part)
{
    char name[16];
    struct buf found = {0};

    rig_check(r, id, version, text);
    snprintf(name, sizeof(name), "%d", id);

    struct fake_document doc = fake_search_get(r->fake, "orders_v2", name);

    assert_true(json_find_text(buf_str(&doc.body), "/part", &found));
    assert_string_equal(found.ptr, part);
    buf_free(&found);
    buf_free(&doc.body);
}

void rig_check_gone(struct rig *r, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    assert_false(fake_search_get(r->fake, "orders_v2", name).found);
}

double rig_metric(struct rig *r, const char *series)
{
    struct buf samples = {0}, page = {0};
    const char *at;
    double value;

    delivery_metrics(r->delivery, &samples);
    metric_render(&page, buf_str(&samples));
    at = strstr(page.ptr, series);
    if (at == NULL)
        fail_msg("not in the metrics: %s\n%s", series, page.ptr);
    value = strtod(at + strlen(series), NULL);
    buf_free(&samples);
    buf_free(&page);
    return value;
}

size_t rig_lines(struct rig *r, int log_fd, off_t from)
{
    char text[4096];
    ssize_t len;
    size_t n = 0;

    while ((len = pread(log_fd, text, sizeof(text), from)) > 0) {
        for (ssize_t i = 0; i < len; i++)
            n += text[i] == '\n';
        from += len;
    }
    for (unsigned i = 0; i < N_DELIVERY_EVENTS; i++)
        n += rig_events(r, (enum delivery_event)i);
    return n;
}
