/*
 * Runs a fuzz target over files instead of over libFuzzer's inputs: each argument is a file or
 * a folder of files.  `make check` uses it, so that what once broke a parser never does again.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;

    if (f == NULL || fstat(fileno(f), &st) != 0) {
        perror(path);
        return 1;
    }

    /* Of exactly its size, so that a sanitizer sees a read beyond the end. */
    size_t len = (size_t)st.st_size;
    uint8_t *bytes = malloc(len > 0 ? len : 1);
    int failed = bytes == NULL || fread(bytes, 1, len, f) != len;

    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(bytes, len);
    free(bytes);
    fclose(f);
    return failed;
}

static int run_folder(const char *path, size_t *n)
{
    DIR *dir = opendir(path);
    int failed = 0;

    if (dir == NULL) {
        perror(path);
        return 1;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char file[4096];

        if (e->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
        failed |= run_file(file);
        ++*n;
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    size_t n = 0;

    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
            failed |= run_folder(argv[i], &n);
        } else {
            failed |= run_file(argv[i]);
            n++;
        }
    }
    if (n == 0) {
        fprintf(stderr, "no input given\n");
        return 1;
    }
    return failed;
}
