//! Decodes every row of a MySQL binlog file with mysql_common; prints Millrace's count line.
use decode::Counts;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::EventData;
use mysql_common::binlog::row::BinlogRow;
use mysql_common::binlog::value::BinlogValue;
use mysql_common::binlog::BinlogFile;
use mysql_common::value::Value;
use std::fs::File;
use std::io::BufReader;

/// The crate leaves JSON as bytes until somebody asks for it.
fn count(counts: &mut Counts, row: &BinlogRow) {
    counts.cells += row.len();
    for i in 0..row.len() {
        match row.as_ref(i) {
            Some(BinlogValue::Value(Value::NULL)) => counts.nulls += 1,
            Some(BinlogValue::Value(Value::Int(id))) if i == 0 => counts.ids += id,
            Some(BinlogValue::Jsonb(json)) => drop(json.clone().parse().expect("JSON")),
            _ => {}
        }
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let file = BufReader::with_capacity(1 << 20, File::open(path).expect("open"));
    let mut log = BinlogFile::new(BinlogVersion::Version4, file).expect("a binlog");
    let mut counts = Counts::default();
    while let Some(event) = log.next() {
        let event = event.expect("an event");
        if let Some(EventData::RowsEvent(rows)) = event.read_data().expect("its data") {
            let table = log.reader().get_tme(rows.table_id()).expect("its table");
            for images in rows.rows(table) {
                match images.expect("a row") {
                    (Some(before), Some(after)) => {
                        counts.updates += 1;
                        count(&mut counts, &before);
                        count(&mut counts, &after);
                    }
                    (None, Some(row)) => {
                        counts.inserts += 1;
                        count(&mut counts, &row);
                    }
                    (Some(row), None) => {
                        counts.deletes += 1;
                        count(&mut counts, &row);
                    }
                    (None, None) => {}
                }
            }
        }
    }
    counts.print();
}
