//! Which metrics an experiment has: what its parsers can yield, what it declares, and which one verdicts are about.

use super::bind::Formula;
use super::charts;
use super::derive::Derived;
use super::variants::Binder;
use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, MetricDecl};
use crate::model::metric::{BUILTIN_METRICS, Better, MetricInfo, TRIAL_METRICS, Unit};
use crate::model::plan::Variant;
use crate::model::spec::{ParseSpec, TrialSpec};
use crate::model::tree::Span;
use std::collections::BTreeSet;

/// Beyond this many variants only the first one's parsers are asked: a matrix of that size is planned, not run.
const SAMPLED: usize = 10_000;

/// What is counted of a service, which has no window and no output of its own.
const SERVICE_METRICS: [&str; 3] = ["cpu_seconds", "throttled_seconds", "memory_peak"];

/// Every metric that trials of `spec` may yield, in order: the parsers' first, then the built-in ones, those of services below their
/// names, then those of the trial as a whole.
#[must_use]
pub fn dictionary(spec: &TrialSpec, catalog: &Catalog) -> Vec<MetricDecl> {
    let several = spec.workloads.len() > 1;
    let mut found: Vec<MetricDecl> = Vec::new();
    for workload in &spec.workloads {
        let tools = workload.parse.iter().flat_map(|parse| of_parser(parse, catalog));
        for mut metric in tools.chain(BUILTIN_METRICS.iter().map(known)) {
            if several {
                metric.name = format!("{}.{}", workload.name, metric.name);
            }
            found.push(metric);
        }
    }
    let lasting = spec.services.iter().filter(|service| !spec.is_waited_out(&service.name));
    for (service, info) in lasting.flat_map(|service| BUILTIN_METRICS.iter().map(move |info| (service, info))) {
        if SERVICE_METRICS.contains(&info.name) {
            let metric = known(info);
            found.push(MetricDecl { name: format!("{}.{}", service.name, info.name), ..metric });
        }
    }
    let is_of_engine = |info: &MetricInfo| ["docker_proxy_cpu_seconds", "engine_cpu_seconds"].contains(&info.name);
    found.extend(TRIAL_METRICS.iter().filter(|info| spec.needs_engine() || !is_of_engine(info)).map(known));
    let mut seen = BTreeSet::new();
    found.retain(|metric| seen.insert(metric.name.clone()));
    found
}

fn of_parser(parse: &ParseSpec, catalog: &Catalog) -> Vec<MetricDecl> {
    match parse {
        ParseSpec::Tool(tool) => catalog.parsers.iter().filter(|p| p.name == tool).flat_map(|p| p.metrics).map(known).collect(),
        ParseSpec::Regex(items) | ParseSpec::Json(items) | ParseSpec::Csv(items) => {
            items.iter().map(|e| MetricDecl { unit: Some(e.unit.clone()), ..bare(&e.name, e.better) }).collect()
        }
    }
}

fn known(info: &MetricInfo) -> MetricDecl {
    MetricDecl { unit: Some(Unit::custom(info.unit)), about: Some(info.about.to_owned()), ..bare(info.name, info.better) }
}

fn bare(name: &str, better: Option<Better>) -> MetricDecl {
    MetricDecl { name: name.to_owned(), better, primary: false, expr: None, unit: None, about: None, span: Span::default() }
}

/// The declared metrics with the primary one marked: the declared primary, else the first declared, else the first parsed, else `wall`.
#[must_use]
pub fn declared(declared: &[MetricDecl], dictionary: &[MetricDecl]) -> Vec<MetricDecl> {
    let mut all = declared.to_vec();
    if all.iter().any(|metric| metric.primary) {
        return all;
    }
    match all.first_mut() {
        Some(first) => first.primary = true,
        None => all.extend(dictionary.first().map(|first| MetricDecl { primary: true, ..first.clone() })),
    }
    all
}

/// Formulas that cannot be read at all: what can be said without knowing the variants.
pub(super) fn syntax(experiment: &Experiment) -> Vec<Diagnostic> {
    let formulas = experiment.presentation.metrics.iter().filter_map(|metric| metric.expr.as_ref().map(|text| (metric.span, text)));
    formulas.filter_map(|(span, text)| Formula::new(text).err().map(|error| Diagnostic::error(span, error.to_string()))).collect()
}

/// What the variants can yield together.
struct Possible {
    /// Metrics that are measured.
    names: BTreeSet<String>,
    /// The first of them: the primary one where nothing is declared.
    first: Option<String>,
    /// Names that formulas may use beside metrics.
    scope: BTreeSet<String>,
}

fn possible(experiment: &Experiment, binder: &Binder<'_>, variants: &[Variant]) -> Possible {
    let mut first = None;
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut scope: BTreeSet<String> = experiment.factors.iter().map(|f| f.name.to_string()).collect();
    scope.insert("host".to_owned());
    let mut last = None;
    for variant in variants {
        let Ok(resolved) = binder.resolve(&variant.levels) else { continue };
        scope.extend(resolved.names.keys().cloned());
        let parsers: Vec<Vec<ParseSpec>> = resolved.spec.workloads.iter().map(|w| w.parse.clone()).collect();
        let services: Vec<String> = resolved.spec.services.iter().map(|service| service.name.clone()).collect();
        let current = Some((parsers, services, resolved.spec.needs_engine()));
        if last != current {
            let dictionary = dictionary(&resolved.spec, binder.catalog());
            first = first.or_else(|| dictionary.first().map(|metric| metric.name.clone()));
            names.extend(dictionary.into_iter().map(|metric| metric.name));
            last = current;
        }
        if variants.len() > SAMPLED {
            break;
        }
    }
    Possible { names, first, scope }
}

/// Checks declared metrics, formulas and charts against what the variants can yield.
pub(super) fn check(experiment: &Experiment, binder: &Binder<'_>, variants: &[Variant]) -> Result<(), Vec<Diagnostic>> {
    if experiment.presentation.metrics.is_empty() && experiment.presentation.charts.is_none() {
        return Ok(());
    }
    let Possible { mut names, first, mut scope } = possible(experiment, binder, variants);
    let mut problems = Vec::new();
    for metric in experiment.presentation.metrics.iter().filter(|m| m.expr.is_some()) {
        if names.contains(&metric.name) {
            let problem = Diagnostic::error(metric.span, format!("`{}` is measured already, so no formula can give it", metric.name));
            problems.push(problem.help("give the derived metric a name of its own"));
        }
    }
    names.extend(experiment.presentation.metrics.iter().filter(|m| m.expr.is_some()).map(|m| m.name.clone()));
    scope.extend(names.iter().map(|name| name.split('.').next().unwrap_or(name).to_owned()));
    for metric in &experiment.presentation.metrics {
        match &metric.expr {
            Some(text) => {
                if let Err(error) = Formula::new(text).and_then(|formula| formula.check(scope.iter().map(String::as_str))) {
                    problems.push(Diagnostic::error(metric.span, error.to_string()));
                }
            }
            None if !names.contains(&metric.name) => {
                let known = names.iter().map(String::as_str);
                problems.push(
                    Diagnostic::error(metric.span, format!("no parser yields a metric `{}`", metric.name)).suggest(&metric.name, known),
                );
            }
            None if metric.unit.is_some() => {
                let problem =
                    Diagnostic::error(metric.span, format!("`{}` is measured and has its unit: none can be declared", metric.name));
                problems.push(problem.help("drop `unit`; a metric of your own may convert it: `expr: ... * 1000`"));
            }
            None => {}
        }
    }
    if problems.is_empty() {
        let (_, circles) = Derived::new(&experiment.presentation.metrics);
        let span = experiment.presentation.metrics.iter().find(|m| m.expr.is_some()).map(|m| m.span).unwrap_or_default();
        problems.extend(circles.into_iter().map(|circle| Diagnostic::error(span, circle)));
    }
    problems.extend(charts::form(experiment, binder.catalog()));
    let declared = experiment.presentation.metrics.iter().map(|metric| metric.name.as_str());
    let compared: Vec<&str> =
        if experiment.presentation.metrics.is_empty() { first.as_deref().into_iter().collect() } else { declared.collect() };
    problems.extend(charts::metrics(experiment, binder.catalog(), &names, &compared));
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
