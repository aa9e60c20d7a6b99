-- Until when a version that another one has replaced stays current (src/store/turn.h).

ALTER TABLE index_version ADD COLUMN kept_until_ms {number};
