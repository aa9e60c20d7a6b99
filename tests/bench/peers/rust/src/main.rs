//! Decodes every row of a binlog file with mysql_cdc; prints Millrace's count line.
use mysql_cdc::binlog_reader::BinlogReader;
use mysql_cdc::events::binlog_event::BinlogEvent;
use mysql_cdc::events::row_events::mysql_value::MySqlValue;
use mysql_cdc::events::row_events::row_data::RowData;
use std::fs::File;

#[derive(Default)]
struct Counts {
    inserts: u64,
    updates: u64,
    deletes: u64,
    cells: usize,
    nulls: usize,
    ids: i64,
}

impl Counts {
    fn row(&mut self, row: &RowData) {
        self.cells += row.cells.len();
        self.nulls += row.cells.iter().filter(|c| c.is_none()).count();
        if let Some(Some(MySqlValue::BigInt(id))) = row.cells.first() {
            self.ids += *id as i64;
        }
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let reader = BinlogReader::new(File::open(path).expect("open")).expect("a binlog");
    let mut counts = Counts::default();
    for event in reader.read_events() {
        match event.expect("an event").1 {
            BinlogEvent::WriteRowsEvent(e) => {
                counts.inserts += e.rows.len() as u64;
                e.rows.iter().for_each(|r| counts.row(r));
            }
            BinlogEvent::DeleteRowsEvent(e) => {
                counts.deletes += e.rows.len() as u64;
                e.rows.iter().for_each(|r| counts.row(r));
            }
            BinlogEvent::UpdateRowsEvent(e) => {
                counts.updates += e.rows.len() as u64;
                for r in &e.rows {
                    counts.row(&r.before_update);
                    counts.row(&r.after_update);
                }
            }
            _ => {}
        }
    }
    println!(
        "ins={} upd={} del={} cells={} nulls={} idsum={}",
        counts.inserts, counts.updates, counts.deletes, counts.cells, counts.nulls, counts.ids
    );
}
