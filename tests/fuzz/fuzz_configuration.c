#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "src/config/configuration.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A configuration that is taken can be shown, and what is shown holds every setting. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("configuration", MFD_CLOEXEC);
    char path[64];
    struct problems *problems = problems_new();
    const struct configuration_source source = {.file = path};
    struct buf shown = {0};

    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && fchmod(fd, 0600) == 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

    struct configuration *c = configuration_load(&source, problems);

    assert((c == NULL) == (problems_count(problems, SEVERITY_ERROR) > 0));
    problems_append_text(problems, &shown);
    problems_append_json(problems, &shown);
    if (c != NULL) {
        configuration_append_yaml(c, true, &shown);
        configuration_append_json(c, &shown);
    }
    buf_free(&shown);
    configuration_free(c);
    problems_free(problems);
    close(fd);
    return 0;
}
