//! Tables as data: the columns of a run's rows that Python gets.

/// A column of a table: its name, and the function that reads a row's value, by the type of the values.
#[derive(Clone, Copy, Debug)]
pub enum Column<Row> {
    /// Column of truth values.
    Bool(&'static str, fn(&Row) -> bool),
    /// Column of codes; `contract` names them.
    U8(&'static str, fn(&Row) -> u8),
    /// Column of indices.
    U32(&'static str, fn(&Row) -> u32),
    /// Column of counts.
    U64(&'static str, fn(&Row) -> u64),
    /// Column of amounts, or of counts that may be unknown.
    F64(&'static str, fn(&Row) -> f64),
    /// Column of times, or of times multiplied by something, which Python gets in seconds: in ticks of the run's clock.
    Seconds(&'static str, fn(&Row) -> f64),
}

impl<Row> Column<Row> {
    /// Returns the name of the column.
    pub fn name(&self) -> &'static str {
        match self {
            Column::Bool(name, _)
            | Column::U8(name, _)
            | Column::U32(name, _)
            | Column::U64(name, _)
            | Column::F64(name, _)
            | Column::Seconds(name, _) => name,
        }
    }

    /// Returns a row's value as bits: equal values of a column have equal bits.
    pub fn bits(&self, row: &Row) -> u64 {
        match self {
            Column::Bool(_, value) => u64::from(value(row)),
            Column::U8(_, value) => u64::from(value(row)),
            Column::U32(_, value) => u64::from(value(row)),
            Column::U64(_, value) => value(row),
            Column::F64(_, value) | Column::Seconds(_, value) => value(row).to_bits(),
        }
    }
}
