// Decodes every row of a binlog file with go-mysql; prints Millrace's count line.
package main

import (
	"fmt"
	"os"

	"github.com/go-mysql-org/go-mysql/replication"
)

type counts struct {
	inserts, updates, deletes, cells, nulls int
	ids                                     int64
}

func (c *counts) row(cells []any) {
	c.cells += len(cells)
	for _, cell := range cells {
		if cell == nil {
			c.nulls++
		}
	}
	if len(cells) > 0 {
		if id, ok := cells[0].(int64); ok {
			c.ids += id
		}
	}
}

func (c *counts) event(e *replication.BinlogEvent) error {
	rows, ok := e.Event.(*replication.RowsEvent)
	if !ok {
		return nil
	}
	switch e.Header.EventType {
	case replication.WRITE_ROWS_EVENTv1, replication.WRITE_ROWS_EVENTv2, replication.MARIADB_WRITE_ROWS_COMPRESSED_EVENT_V1:
		c.inserts += len(rows.Rows)
	case replication.DELETE_ROWS_EVENTv1, replication.DELETE_ROWS_EVENTv2, replication.MARIADB_DELETE_ROWS_COMPRESSED_EVENT_V1:
		c.deletes += len(rows.Rows)
	default: // a row before its change, and after it
		c.updates += len(rows.Rows) / 2
	}
	for _, cells := range rows.Rows {
		c.row(cells)
	}
	return nil
}

func main() {
	var c counts
	parser := replication.NewBinlogParser()
	parser.SetVerifyChecksum(false)
	parser.SetFlavor("mariadb")
	if err := parser.ParseFile(os.Args[1], 0, c.event); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("ins=%d upd=%d del=%d cells=%d nulls=%d idsum=%d\n", c.inserts, c.updates, c.deletes, c.cells, c.nulls, c.ids)
}
