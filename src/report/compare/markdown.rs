//! The comparison as a comment on a pull request: short, with the rest folded away.

use super::{Compared, Row, row, short_digests};
use crate::model::change::{Judgement, ShiftKind};
use crate::report::templates::inline;
use crate::report::templates::markdown as written;
use std::fmt::Write;

/// Rows of a table beyond which the rest is counted.
const MOST_ROWS: usize = 40;

/// Differences that stand open.
const MOST_DIFFERENCES: usize = 12;

fn code(raw: &str) -> String {
    written(&inline::code(raw))
}

fn text(raw: &str) -> String {
    written(&inline::text(raw))
}

fn sentence(raw: &str) -> String {
    written(&inline::sentence(raw))
}

/// The comment.
#[must_use]
pub fn markdown(compared: &Compared<'_>) -> String {
    let change = compared.change;
    let mut page = format!("### {}: B against A\n\n", code(&compared.records[1].experiment));
    let name = |name: &str| code(name);
    line(&mut page, &format!("**{}.**\n", compared.headline(name)));
    line(&mut page, &format!("A is {}, B is {}.\n", name(compared.names[0]), name(compared.names[1])));
    if !compared.judgements.is_empty() {
        compared.judgements.iter().for_each(|judgement| line(&mut page, &format!("- {}", judged(judgement))));
        page.push('\n');
    }
    if !change.cautions.is_empty() {
        page.push_str("> [!WARNING]\n");
        change.cautions.iter().for_each(|caution| line(&mut page, &format!("> - {}", sentence(caution))));
        page.push('\n');
    }
    if change.environment.is_empty() {
        page.push_str("Nothing that is recorded of the environment differs.\n\n");
    } else {
        let rows = change.environment.iter().map(|found| [&found.what, &found.a, &found.b].map(|cell| filled(cell)));
        table(&mut page, ["differs", "A", "B"], rows, MOST_DIFFERENCES);
    }
    let kind = compared.kind();
    shifts(&mut page, compared, kind, true);
    let other = if kind == ShiftKind::Level { ShiftKind::Relative } else { ShiftKind::Level };
    let mut folded = String::new();
    for (kind, primary) in [(other, true), (ShiftKind::Level, false), (ShiftKind::Relative, false)] {
        shifts(&mut folded, compared, kind, primary);
    }
    let altered = compared.altered();
    if !altered.is_empty() {
        let rows = altered.iter().map(|(variant, changes)| [name(variant), text(&changes.join("; "))]);
        table(&mut folded, ["variant", "runs in B"], rows, MOST_ROWS);
    }
    for (side, ids) in [("A", &change.only_a), ("B", &change.only_b)] {
        let named: Vec<String> = ids.iter().take(MOST_ROWS).map(|id| name(id)).collect();
        let more = if ids.len() > MOST_ROWS { format!(" and {} more", ids.len() - MOST_ROWS) } else { String::new() };
        if !named.is_empty() {
            line(&mut folded, &format!("Only in {side}: {}{more}.\n", named.join(", ")));
        }
    }
    for (side, results) in ["A", "B"].iter().zip(compared.records) {
        results.warnings.iter().take(MOST_ROWS).for_each(|warning| line(&mut folded, &format!("- {side}: {}", sentence(warning))));
    }
    if !folded.trim().is_empty() {
        let folded = folded.trim_end();
        line(&mut page, &format!("<details>\n<summary>All comparisons, and what else differs</summary>\n\n{folded}\n\n</details>"));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// What became of a threshold.
fn judged(judgement: &Judgement) -> String {
    let names = |variants: &[String]| variants.iter().map(|variant| code(variant)).collect::<Vec<_>>().join(", ");
    let threshold = code(&judgement.text);
    if let Some(why) = &judgement.unjudged {
        return format!("{threshold} was not judged: {}", sentence(why));
    }
    let open = if judgement.open.is_empty() { String::new() } else { format!("; open for {}", names(&judgement.open)) };
    if judgement.crossed.is_empty() {
        format!("{threshold} is not crossed{open}")
    } else {
        format!("{threshold} is **crossed** by {}{open}", names(&judgement.crossed))
    }
}

fn shifts(page: &mut String, compared: &Compared<'_>, kind: ShiftKind, primary: bool) {
    let rows: Vec<Row> = compared.shifts(kind, primary).map(row).collect();
    if rows.is_empty() {
        return;
    }
    let (title, sides) = match kind {
        ShiftKind::Level => ("Levels (medians)", ["A", "B"]),
        ShiftKind::Relative => ("Relative to the baseline of each record", ["A / baseline", "B / baseline"]),
    };
    let exploratory = if primary { "" } else { ", exploratory" };
    line(page, &format!("{title}{exploratory}:\n"));
    let header = ["variant", "metric", sides[0], sides[1], "n", "B / A", "95 % interval", "adjusted p", "verdict"];
    let cells = rows.into_iter().map(|row| {
        let Row { variant, metric, sides: [a, b], n, ratio, interval, p, verdict } = row;
        let numbers = [a, b, n, ratio, interval, p, verdict].map(|cell| text(&cell));
        let [a, b, n, ratio, interval, p, verdict] = numbers;
        [code(&variant), code(&metric), a, b, n, ratio, interval, p, verdict]
    });
    table(page, header, cells, MOST_ROWS);
}

fn table<const N: usize>(page: &mut String, header: [&str; N], rows: impl ExactSizeIterator<Item = [String; N]>, most: usize) {
    let all = rows.len();
    line(page, &format!("| {} |\n|{}", header.join(" | "), "---|".repeat(N)));
    rows.take(most).for_each(|cells| line(page, &format!("| {} |", cells.join(" | "))));
    page.push('\n');
    if all > most {
        line(page, &format!("… and {} more (`--format json` has all).\n", all - most));
    }
}

/// A cell of other people's text; a dash where there is none.
fn filled(cell: &str) -> String {
    if cell.is_empty() { "–".to_owned() } else { text(&short_digests(cell)) }
}

fn line(page: &mut String, text: &str) {
    // Text takes any text.
    let _ = writeln!(page, "{text}");
}
