-- shared: a program that does not know delayed tables refuses them; none that does is released
-- The rows of a part of a delayed run (rebalance/fill/part.h), which lists of jobs do not load.

ALTER TABLE job ADD COLUMN part_keys {text};
