-- shared: programs that do not know words serve none
-- The words of the analyzer's lists (src/store/words/words.h).

CREATE TABLE IF NOT EXISTS word (
    id {serial},
    list_name {word} NOT NULL,
    word {key} NOT NULL,
    added_ms {number} NOT NULL,
    published_ms {number} NOT NULL,
    UNIQUE (list_name, word)
) {rows};

-- One of a list that anybody has changed.
CREATE TABLE IF NOT EXISTS word_list (
    list_name {word} NOT NULL PRIMARY KEY,
    turn {number} NOT NULL,
    changed_ms {number} NOT NULL
) {keyed};
