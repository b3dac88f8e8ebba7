//! Histograms as tables.

use base::cast::to_u32;
use base::Histogram;

use crate::column::Column::{self, Seconds, U32, U64};

/// A bucket of a histogram that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRow {
    /// Index of the histogram among those of its table.
    pub row: u32,
    /// Number of the bucket ([`Histogram::start_of`]).
    pub bucket: u32,
    /// Number of durations in it.
    pub count: u64,
}

impl BucketRow {
    /// The columns of a table of buckets.
    pub const COLUMNS: &'static [Column<BucketRow>] = &[
        U32("row", |row| row.row),
        U32("bucket", |row| row.bucket),
        Seconds("low_s", |row| Histogram::start_of(row.bucket as usize).ticks() as f64),
        Seconds("high_s", |row| Histogram::start_of(row.bucket as usize + 1).ticks() as f64),
        U64("count", |row| row.count),
    ];

    /// Returns the buckets of histograms that hold something, one histogram after the other.
    pub fn of<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Vec<BucketRow> {
        let rows = histograms.enumerate().flat_map(|(row, histogram)| {
            let of_bucket = move |(bucket, count)| BucketRow { row: to_u32(row), bucket: to_u32(bucket), count };
            histogram.buckets().map(of_bucket)
        });
        rows.collect()
    }
}
