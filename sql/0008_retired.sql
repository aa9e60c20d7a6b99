-- When an index was retired: no definition names it any more (src/store/retired.h).

ALTER TABLE index_version ADD COLUMN retired_ms {number};
