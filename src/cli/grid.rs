//! Tables for people: blanks between the columns, a line per row.

use comfy_table::{CellAlignment, Table, presets};
use std::io::Write;
use std::ops::Range;

/// A table without rows; the columns of `numbers` stand to the right.
pub fn new(header: &[&str], numbers: Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for at in numbers {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Writes a table, without blanks at the ends of its lines.
pub fn print(out: &mut dyn Write, table: &Table) -> std::io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}
