/*
 * struct fake_voice: how one engine of one version greets, what it refuses and in which words.
 *
 * From the engines' documentation and source; what an OpenSearch 2.19 answered when it was
 * asked is its voice word for word.  Only what Millrace sends or reads is played.
 */
#ifndef TESTS_FAKES_FAKE_VOICE_H
#define TESTS_FAKES_FAKE_VOICE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "tests/fakes/fake_http.h"

#include <stdbool.h>

struct fake_words {
    int status;
    const char *type, *reason;
    const char *cause_type, *cause_reason; /* NULL: it tells none */
};

struct fake_voice {
    const char *name;
    const char *greeting; /* the answer to GET / */
    /* Media types of Elasticsearch with compatible-with=N: the least and the greatest; 0 and 0:
     * they are not known. */
    unsigned compatible_min, compatible_max;
    bool tells_product;   /* the header X-elastic-product */
    bool tells_types;     /* "_type":"_doc" in documents and items */
    const char *lacks[4]; /* types of fields, of those that Millrace knows of */
    bool lacks_knn;       /* the setting index.knn */
    bool tells_plugin;    /* an unknown type may need a plugin, as it says */
    struct fake_words bad_document, too_many_fields, flood, busy, closed;
};

extern const struct fake_voice fake_elasticsearch_7, fake_elasticsearch_8, fake_elasticsearch_9,
    fake_opensearch_1, fake_opensearch_1_disguised, fake_opensearch_2, fake_opensearch_3;

/* Media types and parameters of a request.  False: answer is the refusal. */
bool fake_voice_takes(const struct fake_voice *v, const struct fake_http_request *req,
                      struct fake_http_answer *answer);
/* A new index ({"settings":...,"mappings":...}).  False: answer is the refusal. */
bool fake_voice_takes_index(const struct fake_voice *v, struct str body,
                            struct fake_http_answer *answer);
/* The mappings alone. */
bool fake_voice_takes_mapping(const struct fake_voice *v, struct str mappings,
                              struct fake_http_answer *answer);

#endif
