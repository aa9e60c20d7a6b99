-- The transaction of a dead letter's change.

ALTER TABLE dead_letter ADD COLUMN gtid {text};
