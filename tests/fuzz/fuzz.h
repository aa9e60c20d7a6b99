/*
 * What every fuzz target defines.  A target checks what must hold for any input by assert() and
 * returns 0; it is linked with libFuzzer (--enable-fuzzers) or with replay.c.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
