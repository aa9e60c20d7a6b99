//! What the decoders count, and Millrace's count line.
#[derive(Default)]
pub struct Counts {
    pub inserts: usize,
    pub updates: usize,
    pub deletes: usize,
    pub cells: usize,
    pub nulls: usize,
    pub ids: i64,
}

impl Counts {
    pub fn print(&self) {
        println!(
            "ins={} upd={} del={} cells={} nulls={} idsum={}",
            self.inserts, self.updates, self.deletes, self.cells, self.nulls, self.ids
        );
    }
}
