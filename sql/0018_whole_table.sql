-- shared: a program that does not know delayed tables refuses them; none that does is released
-- Which builds a delayed run has asked for (src/store/later/whole_table.h).

ALTER TABLE snapshot_run ADD COLUMN builds {number};
ALTER TABLE snapshot_run ADD COLUMN builds_after {number};

CREATE INDEX snapshot_lead_place ON snapshot_lead (place, index_name, version);
