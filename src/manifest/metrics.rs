//! `metrics:` into declarations; formulas are kept as text and read where plans are made.

use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Factor, MetricDecl};
use crate::model::metric::{Better, Unit};
use crate::model::tree::{Key, Span, Tree};

/// Reads the declared metrics in the order of the text.
pub(super) fn metrics(root: &Tree, factors: &[Factor], found: &mut Vec<Diagnostic>) -> Vec<MetricDecl> {
    let entries = root.get("metrics").map_or(&[][..], Tree::entries);
    let mut primary: Option<Span> = None;
    let mut metrics = Vec::new();
    for (key, tree) in entries {
        let metric = metric(key, tree, found);
        if metric.primary {
            match primary {
                Some(first) => {
                    let problem = Diagnostic::error(key.span, format!("`{}` is a second primary metric", key.name));
                    found.push(
                        problem.related(first, "the first one is here").help("verdicts are about one metric: keep one `primary: true`"),
                    );
                }
                None => primary = Some(key.span),
            }
        }
        if let Some(factor) = factors.iter().find(|factor| factor.name == key.name) {
            let problem = Diagnostic::error(key.span, format!("`{}` is a metric and a factor", key.name));
            found.push(
                problem.related(factor.span, "the factor is declared here").help("the tables have one column for each name: rename one"),
            );
        }
        metrics.push(metric);
    }
    metrics
}

fn metric(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> MetricDecl {
    let text = |name: &str| tree.get(name).and_then(Tree::text).map(str::to_owned);
    for name in ["expr", "unit"] {
        if let Some(value) = tree.get(name).filter(|value| value.text().is_some_and(|text| text.trim().is_empty())) {
            found.push(Diagnostic::error(value.span, format!("`{name}` of the metric `{}` is empty", key.name)));
        }
    }
    MetricDecl {
        name: key.name.to_string(),
        better: match text("better").as_deref() {
            Some("higher") => Some(Better::Higher),
            Some("lower") => Some(Better::Lower),
            _ => None,
        },
        primary: text("primary").as_deref() == Some("true"),
        expr: text("expr"),
        unit: text("unit").map(|symbol| Unit::custom(&symbol)),
        about: text("about"),
        span: key.span,
    }
}
