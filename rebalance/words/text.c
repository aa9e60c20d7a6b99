#include "config.h"

#include "rebalance/words/text.h"

#include "src/base/arena.h"
#include "src/base/utf8.h"
#include "src/format/problem.h"
#include "src/store/words/words.h"

#include <string.h>

#define SHOWN 40 /* bytes of a word that a message shows */

const char *const word_lists[] = {"ext", "stop"};
const size_t n_word_lists = ARRAY_LEN(word_lists);

bool word_check_list(struct str list, struct err *err)
{
    for (size_t i = 0; i < n_word_lists; i++)
        if (str_equal(list, str_from(word_lists[i])))
            return true;
    return err_set_code(err, ERR_REJECT, "http", 404,
                        "there is no list \"%.*s\"; fix: name ext or stop",
                        (int)(list.len < SHOWN ? list.len : SHOWN), list.ptr);
}

static bool is_control(unsigned char c)
{
    return c < ' ' || c == 0x7f;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* NULL: it is a word. */
static const char *fault_of(struct str word)
{
    if (word.len == 0)
        return "a word is empty";
    if (!utf8_valid(word))
        return "a word is not UTF-8";
    for (size_t i = 0; i < word.len; i++)
        if (is_control((unsigned char)word.ptr[i]))
            return "a word has a line break or another control character";
    if (is_space(word.ptr[0]) || is_space(word.ptr[word.len - 1]))
        return "a word begins or ends with a space";
    return NULL;
}

bool word_check(struct str word, struct err *err)
{
    const char *fault;

    if (word.len > WORD_BYTES_MAX)
        return err_set_code(err, ERR_REJECT, "http", 422,
                            "a word has %zu bytes, and may have %d", word.len, WORD_BYTES_MAX);
    fault = fault_of(word);
    return fault == NULL || err_set_code(err, ERR_REJECT, "http", 422, "%s", fault);
}

/* ---- a text of words ---- */

static struct str next_line(struct str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    const size_t n = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    const size_t taken = end == NULL ? n : n + 1;
    struct str line = {rest->ptr, n};

    *rest = (struct str){rest->ptr + taken, rest->len - taken};
    while (line.len > 0 && (is_space(line.ptr[line.len - 1]) || line.ptr[line.len - 1] == '\r'))
        line.len--;
    while (line.len > 0 && is_space(line.ptr[0]))
        line = (struct str){line.ptr + 1, line.len - 1};
    return line;
}

static size_t count_lines(struct str text)
{
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

struct str *word_read_lines(struct arena *a, struct str text, size_t *n,
                            struct problems *problems)
{
    const struct str mark = STR("\xef\xbb\xbf");
    struct str *words = arena_alloc(a, count_lines(text), sizeof(*words));
    struct err err;

    *n = 0;
    if (str_has_prefix(text, mark))
        text = (struct str){text.ptr + mark.len, text.len - mark.len};
    for (unsigned line = 1; text.len > 0; line++) {
        const struct str word = next_line(&text);

        if (word.len == 0)
            continue;
        if (word_check(word, &err))
            words[(*n)++] = word;
        else
            problems_add(problems, SEVERITY_ERROR, (struct place){"words", line, 1}, "%s",
                         err.msg);
    }
    return words;
}
