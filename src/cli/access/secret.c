#include "config.h"

#include "src/cli/access/secret.h"

#include "src/base/buf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SECRET_MAX 4096

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    interrupted = number;
}

/* Read up to a line end or the end.  Reads no byte behind it. */
static bool read_line(struct buf *out, struct err *err)
{
    char c;

    for (;;) {
        const ssize_t n = read(STDIN_FILENO, &c, 1);

        if (n == -1 && errno == EINTR && interrupted == 0)
            continue;
        if (n == -1)
            return err_set_code(err, ERR_REJECT, "errno", errno, "standard input: %s",
                                strerror(errno));
        if (n == 0 || c == '\n')
            return true;
        if (out->len == SECRET_MAX)
            return err_set(err, ERR_REJECT, "the line is too long for a secret");
        buf_append_char(out, c);
    }
}

static bool ask(struct buf *out, const char *prompt, const char *what, struct err *err)
{
    const struct sigaction note = {.sa_handler = on_interrupt};
    struct sigaction usual;
    struct termios before, quiet;

    if (tcgetattr(STDIN_FILENO, &before) == -1)
        return err_set_code(err, ERR_REJECT, "errno", errno, "the terminal: %s",
                            strerror(errno));
    fprintf(stderr, "%s%s: ", prompt, what);
    fflush(stderr);
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    sigaction(SIGINT, &note, &usual);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);

    const bool ok = read_line(out, err);

    /* Whoever interrupts the command gets the terminal back as it was. */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    sigaction(SIGINT, &usual, NULL);
    fputc('\n', stderr);
    if (interrupted != 0)
        raise(SIGINT);
    return ok;
}

static void forget(struct buf *b)
{
    if (b->len > 0)
        explicit_bzero(b->ptr, b->len);
    buf_free(b);
}

bool secret_read(struct buf *out, const char *what, struct err *err)
{
    bool same = false, ok = true;

    if (isatty(STDIN_FILENO) == 0)
        return read_line(out, err);
    while (ok && !same) {
        struct buf again = {0};

        buf_clear(out);
        ok = ask(out, "", what, err) && ask(&again, "again: ", what, err);
        same = ok && str_equal(buf_str(out), buf_str(&again));
        if (ok && !same)
            fputs("these are two different ones\n", stderr);
        forget(&again);
    }
    return ok;
}
