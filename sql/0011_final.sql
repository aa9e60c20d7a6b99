-- Up to which version deletes are final: those behind it are repeated after a start
-- (rebalance/dead_letter/repeats.c).

ALTER TABLE checkpoint ADD COLUMN final_version {number};
