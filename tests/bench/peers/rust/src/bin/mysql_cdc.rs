//! Decodes every row of a binlog file with mysql_cdc; prints Millrace's count line.
use decode::Counts;
use mysql_cdc::binlog_reader::BinlogReader;
use mysql_cdc::events::binlog_event::BinlogEvent;
use mysql_cdc::events::row_events::mysql_value::MySqlValue;
use mysql_cdc::events::row_events::row_data::RowData;
use std::fs::File;

fn count(counts: &mut Counts, row: &RowData) {
    counts.cells += row.cells.len();
    counts.nulls += row.cells.iter().filter(|c| c.is_none()).count();
    if let Some(Some(MySqlValue::BigInt(id))) = row.cells.first() {
        counts.ids += *id as i64;
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let reader = BinlogReader::new(File::open(path).expect("open")).expect("a binlog");
    let mut counts = Counts::default();
    for event in reader.read_events() {
        match event.expect("an event").1 {
            BinlogEvent::WriteRowsEvent(e) => {
                counts.inserts += e.rows.len();
                e.rows.iter().for_each(|r| count(&mut counts, r));
            }
            BinlogEvent::DeleteRowsEvent(e) => {
                counts.deletes += e.rows.len();
                e.rows.iter().for_each(|r| count(&mut counts, r));
            }
            BinlogEvent::UpdateRowsEvent(e) => {
                counts.updates += e.rows.len();
                for r in &e.rows {
                    count(&mut counts, &r.before_update);
                    count(&mut counts, &r.after_update);
                }
            }
            _ => {}
        }
    }
    counts.print();
}
