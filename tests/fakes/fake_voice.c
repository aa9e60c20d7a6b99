#include "config.h"

#include "tests/fakes/fake_voice.h"

#include "src/format/json.h"
#include "tests/fakes/fake_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the voices ---- */

#define ELASTIC(number, lucene, wire, index)                                                 \
    "{\"name\":\"n\",\"cluster_name\":\"c\",\"cluster_uuid\":\"u\",\"version\":{\"number\":" \
    "\"" number                                                                              \
    "\",\"build_flavor\":\"default\",\"build_type\":\"docker\",\"build_snapshot\":"          \
    "false,\"lucene_version\":\"" lucene "\",\"minimum_wire_compatibility_version\":\"" wire \
    "\",\"minimum_index_compatibility_version\":\"" index                                    \
    "\"},\"tagline\":\"You Know, for Search\"}"
#define OPEN(distribution, number, lucene, wire, index)                                        \
    "{\"name\":\"n\",\"cluster_name\":\"c\",\"cluster_uuid\":\"u\",\"version\":{" distribution \
    "\"number\":\"" number "\",\"build_type\":\"tar\",\"build_snapshot\":false,"               \
    "\"lucene_version\":\"" lucene "\",\"minimum_wire_compatibility_version\":\"" wire         \
    "\",\"minimum_index_compatibility_version\":\"" index                                      \
    "\"},\"tagline\":\"The OpenSearch Project: https://opensearch.org/\"}"
#define NAMED "\"distribution\":\"opensearch\","

#define BAD_FIELD                                                                              \
    "failed to parse field [n] of type [integer] in document with id '7'. Preview of field's " \
    "value: 'x'"
#define TOO_MANY_FIELDS "Limit of total fields [1000] has been exceeded"
#define ILLEGAL         "illegal_argument_exception"
#define BLOCKED_FROM                                                           \
    "index [orders_v2] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded " \
    "flood-stage watermark, index has read-only-allow-delete block"
#define BLOCK "cluster_block_exception"
#define CLOSED                                  \
    {                                           \
        400, "index_closed_exception", "closed" \
    }

const struct fake_voice fake_elasticsearch_7 = {
    .name = "Elasticsearch 7.17",
    .greeting = ELASTIC("7.17.29", "8.11.3", "6.8.0", "6.0.0-beta1"),
    .tells_product = true,
    .tells_types = true,
    .lacks = {"flat_object", "knn_vector"},
    .lacks_knn = true,
    .bad_document = {400, "mapper_parsing_exception", BAD_FIELD},
    .too_many_fields = {400, "mapper_parsing_exception", "failed to parse", ILLEGAL,
                        TOO_MANY_FIELDS " while adding new fields [1]"},
    .flood = {429, BLOCK, BLOCKED_FROM "];"},
    .busy = {429, "es_rejected_execution_exception",
             "rejected execution of coordinating "
             "operation [coordinating_and_primary_bytes=0]"},
    .closed = CLOSED,
};

const struct fake_voice fake_elasticsearch_8 = {
    .name = "Elasticsearch 8.19",
    .greeting = ELASTIC("8.19.3", "9.12.2", "7.17.0", "7.0.0"),
    .compatible_min = 7,
    .compatible_max = 8,
    .tells_product = true,
    .lacks = {"flat_object", "knn_vector"},
    .lacks_knn = true,
    .tells_plugin = true,
    .bad_document = {400, "document_parsing_exception", "[1:5] " BAD_FIELD},
    .too_many_fields = {400, "document_parsing_exception",
                        "[1:5] failed to parse: " TOO_MANY_FIELDS
                        " while adding new fields [1]",
                        ILLEGAL, TOO_MANY_FIELDS " while adding new fields [1]"},
    .flood = {429, BLOCK,
              BLOCKED_FROM "; for more information, see "
                           "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/"
                           "fix-watermark-errors.html];"},
    .busy = {429, "es_rejected_execution_exception",
             "rejected execution of coordinating "
             "operation [coordinating_and_primary_bytes=0]"},
    .closed = CLOSED,
};

const struct fake_voice fake_elasticsearch_9 = {
    .name = "Elasticsearch 9.1",
    .greeting = ELASTIC("9.1.2", "10.2.2", "8.19.0", "8.0.0"),
    .compatible_min = 8,
    .compatible_max = 9,
    .tells_product = true,
    .lacks = {"flat_object", "knn_vector"},
    .lacks_knn = true,
    .tells_plugin = true,
    .bad_document = {400, "document_parsing_exception", "[1:5] " BAD_FIELD},
    .too_many_fields = {400, "document_parsing_exception",
                        "[1:5] failed to parse: " TOO_MANY_FIELDS
                        " while adding new fields [1]",
                        ILLEGAL, TOO_MANY_FIELDS " while adding new fields [1]"},
    .flood = {429, BLOCK,
              BLOCKED_FROM "; for more information, see "
                           "https://www.elastic.co/docs/troubleshoot/elasticsearch/"
                           "fix-watermark-errors?version=9.1];"},
    .busy = {429, "es_rejected_execution_exception",
             "rejected execution of coordinating "
             "operation [coordinating_and_primary_bytes=0]"},
    .closed = CLOSED,
};

#define OPEN_WORDS                                                \
    .bad_document = {400, "mapper_parsing_exception", BAD_FIELD}, \
    .too_many_fields = {400, ILLEGAL, TOO_MANY_FIELDS},           \
    .flood = {429, BLOCK, BLOCKED_FROM "];"},                     \
    .busy = {429, "rejected_execution_exception",                 \
             "rejected execution of coordinating "                \
             "operation [coordinating_and_primary_bytes=0]"},     \
    .closed = CLOSED

const struct fake_voice fake_opensearch_1 = {
    .name = "OpenSearch 1.3",
    .greeting = OPEN(NAMED, "1.3.20", "8.10.1", "6.8.0", "6.0.0-beta1"),
    .tells_types = true,
    .lacks = {"flattened", "dense_vector", "flat_object", "unsigned_long"},
    OPEN_WORDS,
};

const struct fake_voice fake_opensearch_1_disguised = {
    .name = "OpenSearch 1.3 that says 7.10.2",
    .greeting = OPEN("", "7.10.2", "8.10.1", "6.8.0", "6.0.0-beta1"),
    .tells_types = true,
    .lacks = {"flattened", "dense_vector", "flat_object", "unsigned_long"},
    OPEN_WORDS,
};

const struct fake_voice fake_opensearch_2 = {
    .name = "OpenSearch 2.19",
    .greeting = OPEN(NAMED, "2.19.5", "9.12.3", "7.10.0", "7.0.0"),
    .lacks = {"flattened", "dense_vector"},
    OPEN_WORDS,
};

const struct fake_voice fake_opensearch_3 = {
    .name = "OpenSearch 3.1",
    .greeting = OPEN(NAMED, "3.1.0", "10.2.1", "2.19.0", "2.0.0"),
    .lacks = {"flattened", "dense_vector"},
    OPEN_WORDS,
};

/* ---- what it refuses ---- */

#define VENDOR "application/vnd.elasticsearch+"

static struct str header_of(const struct fake_http_request *req, const char *name)
{
    const char *at = memmem(req->head.ptr, req->head.len, name, strlen(name));

    if (at == NULL)
        return STR("");
    at += strlen(name);
    return (struct str){at, strcspn(at, "\r")};
}

static bool is_vendors(struct str type)
{
    return type.len >= strlen(VENDOR) && memcmp(type.ptr, VENDOR, strlen(VENDOR)) == 0;
}

/* N of compatible-with=N; 0: it is not there. */
static unsigned version_in(struct str type)
{
    static const char word[] = "compatible-with=";
    const char *at = type.len == 0 ? NULL : memmem(type.ptr, type.len, word, strlen(word));

    return at == NULL ? 0 : (unsigned)strtoul(at + strlen(word), NULL, 10);
}

static bool is_known_type(struct str type)
{
    return str_equal(type, STR("application/json")) ||
           str_equal(type, STR("application/x-ndjson"));
}

static bool takes_type(const struct fake_voice *v, struct str type)
{
    if (!is_vendors(type))
        return is_known_type(type);
    return v->compatible_max > 0;
}

static bool refuse_versions(const struct fake_voice *v, unsigned found,
                            struct fake_http_answer *answer)
{
    char reason[200];

    snprintf(reason, sizeof(reason),
             "Accept version must be either version %u or %u, but found %u", v->compatible_max,
             v->compatible_min, found);
    fake_refuse(answer, 400, "media_type_header_exception", reason);
    return false;
}

static bool takes_media(const struct fake_voice *v, const struct fake_http_request *req,
                        struct fake_http_answer *answer)
{
    const struct str accept = header_of(req, "\r\nAccept: "),
                     type = header_of(req, "\r\nContent-Type: ");
    const unsigned asked = version_in(accept), sent = version_in(type);
    char text[300];

    if (req->body.len > 0 && !takes_type(v, type)) {
        snprintf(text, sizeof(text), "Content-Type header [%.*s] is not supported",
                 STR_ARG(type));
        answer->status = 406;
        buf_printf(&answer->body, "{\"error\":\"%s\",\"status\":406}", text);
        return false;
    }
    if (v->compatible_max == 0 || (!is_vendors(accept) && !is_vendors(type)))
        return true;
    if (asked < v->compatible_min || asked > v->compatible_max)
        return refuse_versions(v, asked, answer);
    if (req->body.len > 0 && asked != sent) {
        fake_refuse(answer, 400, "media_type_header_exception",
                    "A compatible version is required on both Content-Type and Accept headers "
                    "if either one has requested a compatible version.");
        return false;
    }
    return true;
}

/* Engines refuse a parameter that they do not know. */
static bool takes_parameters(const struct fake_http_request *req,
                             struct fake_http_answer *answer)
{
    static const char *const known[] = {"require_alias", "timeout", "filter_path",
                                        "level",         "format",  "h",
                                        "scroll",        "routing", "_source"};
    struct str rest = req->query;

    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '&', rest.len);
        const struct str part = {rest.ptr, end == NULL ? rest.len : (size_t)(end - rest.ptr)};
        const char *equals = memchr(part.ptr, '=', part.len);
        const struct str name = {part.ptr,
                                 equals == NULL ? part.len : (size_t)(equals - part.ptr)};
        bool is_known = false;

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            is_known = is_known || str_equal(name, str_from(known[i]));
        if (!is_known) {
            fake_refuse(answer, 400, "illegal_argument_exception",
                        "request contains unrecognized parameter");
            return false;
        }
        rest.ptr += part.len + (end != NULL);
        rest.len -= part.len + (end != NULL);
    }
    return true;
}

bool fake_voice_takes(const struct fake_voice *v, const struct fake_http_request *req,
                      struct fake_http_answer *answer)
{
    if (v->tells_product)
        buf_append(&answer->headers, STR("X-elastic-product: Elasticsearch\r\n"));
    return takes_media(v, req, answer) && takes_parameters(req, answer);
}

/* ---- mappings and settings ---- */

static bool refuse_type(const struct fake_voice *v, struct str type, struct str field,
                        struct fake_http_answer *answer)
{
    char reason[300];

    snprintf(reason, sizeof(reason), "%s [%.*s] declared on field [%.*s]%s",
             v->tells_plugin ? "The mapper type" : "No handler for type", STR_ARG(type),
             STR_ARG(field),
             v->tells_plugin ? " does not exist. It might have been created within a future "
                               "version or requires a plugin to be installed. Check the "
                               "documentation."
                             : "");
    fake_refuse(answer, 400, "mapper_parsing_exception", reason);
    return false;
}

static bool takes_field(const struct fake_voice *v, struct str name, struct str field,
                        struct fake_http_answer *answer)
{
    struct buf type = {0};
    bool ok = true;

    if (json_find_text(field, "/type", &type))
        for (size_t i = 0; ok && i < ARRAY_LEN(v->lacks) && v->lacks[i] != NULL; i++)
            ok = strcmp(type.ptr, v->lacks[i]) != 0;
    ok = ok || refuse_type(v, buf_str(&type), name, answer);
    buf_free(&type);
    return ok;
}

/* Mappings that stand below a type, as before 7, are refused, too. */
bool fake_voice_takes_mapping(const struct fake_voice *v, struct str mappings,
                              struct fake_http_answer *answer)
{
    static const char *const roots[] = {"_meta", "dynamic", "properties", "_routing"};
    struct json_reader j;
    struct str key, field, properties;
    bool ok = true;

    json_reader_init(&j, mappings);
    if (json_enter_object(&j))
        while (ok && json_next_member(&j, &key) && json_skip(&j)) {
            ok = false;
            for (size_t i = 0; i < ARRAY_LEN(roots); i++)
                ok = ok || str_equal(key, str_from(roots[i]));
        }
    if (!ok) {
        fake_refuse(answer, 400, "mapper_parsing_exception",
                    "Root mapping definition has unsupported parameters");
        return false;
    }
    if (!json_find(mappings, "/properties", &properties))
        return true;
    json_reader_init(&j, properties);
    if (json_enter_object(&j))
        while (ok && json_next_member(&j, &key) && json_read_raw(&j, &field))
            ok = takes_field(v, key, field, answer);
    return ok;
}

bool fake_voice_takes_index(const struct fake_voice *v, struct str body,
                            struct fake_http_answer *answer)
{
    struct str settings, mappings;

    if (v->lacks_knn && json_find(body, "/settings", &settings) &&
        memmem(settings.ptr, settings.len, "knn", 3) != NULL) {
        fake_refuse(answer, 400, "illegal_argument_exception",
                    "unknown setting [index.knn] please check that any required plugins are "
                    "installed, or check the breaking changes documentation for removed "
                    "settings");
        return false;
    }
    return !json_find(body, "/mappings", &mappings) ||
           fake_voice_takes_mapping(v, mappings, answer);
}
