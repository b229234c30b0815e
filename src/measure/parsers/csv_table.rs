//! Finds a CSV table by the name of a column in its header, in a text that may hold other lines before and after the table.

use csv::{ReaderBuilder, StringRecord};

/// A table.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// The text from its header on.
    pub text: &'a str,
    header: StringRecord,
    /// The lines below it with as many fields as the header. Repeated headers are none.
    pub rows: Vec<StringRecord>,
}

impl Table<'_> {
    /// Where the column of that name stands.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|field| field.trim() == name)
    }
}

/// The table whose header is the first line that holds `name` as a field; commas, semicolons and tabs separate fields.
pub(super) fn table<'a>(text: &'a str, name: &str) -> Option<Table<'a>> {
    let name = name.trim();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.contains(name) {
            start += line.len();
            continue;
        }
        for delimiter in [b',', b';', b'\t'] {
            let header = records(line, delimiter).next();
            if let Some(header) = header.filter(|header| header.iter().any(|field| field.trim() == name)) {
                let mut table = Table { text: &text[start..], header, rows: Vec::new() };
                let at = table.column(name);
                let is_row = |row: &StringRecord| {
                    row.len() == table.header.len() && at.and_then(|at| row.get(at)).is_some_and(|field| field.trim() != name)
                };
                table.rows = records(&text[start..], delimiter).skip(1).filter(is_row).collect();
                return Some(table);
            }
        }
        start += line.len();
    }
    None
}

/// The values of the column `name`, in order.
///
/// # Errors
/// No line of the text names the column.
pub(super) fn column(text: &str, name: &str) -> Result<Vec<String>, String> {
    let name = name.trim();
    let found = table(text, name).and_then(|table| Some((table.column(name)?, table)));
    let (at, table) = found.ok_or_else(|| format!("no header of a CSV table names the column `{name}`"))?;
    Ok(table.rows.iter().filter_map(|row| row.get(at).map(|field| field.trim().to_owned())).collect())
}

fn records(text: &str, delimiter: u8) -> impl Iterator<Item = StringRecord> {
    let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    reader.into_records().filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::column;

    #[test]
    fn columns_are_found_by_name() {
        let table = [
            ("warning: old, option\n\"test\",\"rps\"\n\"SET, x\",\"12.5\"\nGET,13\ndone.\n", "rps", Ok(vec!["12.5", "13"])),
            ("a;b\n1,5;2\n", "a", Ok(vec!["1,5"])),
            ("a\tb\n1\t2", "b", Ok(vec!["2"])),
            ("a,b\n1,2\n\na,b\n3,4\n5", "a", Ok(vec!["1", "3"])),
            ("a , b\n 1 , 2 ", "b", Ok(vec!["2"])),
            ("a,b\n", "b", Ok(vec![])),
            ("a,b\n1,2", "c", Err("no header of a CSV table names the column `c`".to_owned())),
        ];
        for (text, name, expected) in table {
            let expected = expected.map(|values: Vec<&str>| values.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(column(text, name), expected, "{text}");
        }
    }
}
