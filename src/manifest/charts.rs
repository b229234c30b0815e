//! `charts:` into declarations; whether their metrics and factors exist is seen where plans are made.

use super::check::point;
use crate::model::chart::{ChartDecl, ChartKind, ChartOption, Sort};
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::{Node, Tree};

/// Reads the declared charts in the order of the text; none without the key, none of them with an empty list. An entry that the shape
/// check refused is left out.
pub(super) fn charts(root: &Tree, found: &mut Vec<Diagnostic>) -> Option<Vec<ChartDecl>> {
    let declared = root.get("charts").filter(|declared| !declared.is_null())?;
    let entries = match &declared.node {
        Node::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(declared),
    };
    Some(entries.iter().filter_map(|entry| chart(entry, found)).collect())
}

fn chart(entry: &Tree, found: &mut Vec<Diagnostic>) -> Option<ChartDecl> {
    let kind = entry.get("kind")?;
    let mut chart = ChartDecl { span: kind.span, ..ChartDecl::of(ChartKind::named(kind.text()?)?) };
    for (key, tree) in entry.entries() {
        let Some(text) = tree.text().map(str::to_owned) else { continue };
        let given = match &*key.name {
            "metric" => ChartOption::Metric,
            "x" => ChartOption::X,
            "y" => ChartOption::Y,
            "sort" => ChartOption::Sort,
            "title" if text.trim().is_empty() => {
                found.push(Diagnostic::error(tree.span, "the title of a chart is empty").help("leave it out for the experiment's"));
                continue;
            }
            "title" => {
                chart.title = Some(text);
                continue;
            }
            "svg" => {
                chart.svg = text == "true";
                continue;
            }
            _ => continue,
        };
        chart.given.push((given, point(tree, key)));
        match given {
            ChartOption::Metric => chart.metric = Some(text),
            ChartOption::X => chart.x = Some(text),
            ChartOption::Y => chart.y = Some(text),
            ChartOption::Sort if text == "effect" => chart.sort = Some(Sort::Effect),
            ChartOption::Sort => chart.sort = Some(Sort::Declared),
        }
    }
    Some(chart)
}
