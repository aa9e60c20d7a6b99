-- shared: programs that do not know it note no reason
-- Why somebody changed something (src/store/audit.h); NULL of older entries.

ALTER TABLE audit ADD COLUMN reason {text};
