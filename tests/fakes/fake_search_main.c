/* The fake search engine as a program: fake_search [PORT].  Prints its address; ends with
 * SIGTERM. */
#include "config.h"

#include "tests/fakes/fake_search.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct fake_search *f;
    sigset_t ends;
    int signal;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    f = fake_search_start(argc > 1 ? (uint16_t)strtoul(argv[1], NULL, 10) : 0);
    puts(fake_search_url(f));
    fflush(stdout);
    sigwait(&ends, &signal);
    fake_search_stop(f);
    return 0;
}
