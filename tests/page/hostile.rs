//! Texts of other people, put wherever a text of theirs can stand: in HTML, Markdown, CSV and on a terminal they stay texts.

use super::{assert_tables_hold, html_of, page};
use crate::analyse::{add_metric, fail, results, row};
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Analysis, Limiter};
use shakedown::model::event::Attested;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::Phase;
use shakedown::model::results::Results;
use shakedown::report::page::{ChartRef, Own, pages};
use shakedown::report::{answers, tables};

const HOSTILE: [&str; 20] = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style></title></textarea><!--",
    "\"><svg onload=alert(1)>",
    "' autofocus onfocus='alert(1)",
    "&lt;b&gt; &amp; &#60;i&#62;",
    "[click](javascript:alert(1)) ![x](http://a.invalid/x.png)",
    "javascript:alert(1)",
    "<https://a.invalid> www.a.invalid",
    "a\n\n# heading\n- item\n\n```\ncode",
    "| a | b |\n|---|---|",
    "`a``b` ```",
    "\u{1b}[31mred\u{1b}[0m\u{7}",
    "a\0b",
    "txt.\u{202e}exe\u{2066}x\u{2069}\u{200f}",
    "=cmd()|'/C calc'!A0",
    "@SUM(1+1)",
    "{{ title }} {% raw %} {# #}",
    "*a* _b_ ~c~ $d$ \\",
    "日本 שלום 👩\u{200d}🔧",
];

/// A record in which this text stands wherever a text of a person can; the second variant differs from the first.
fn everywhere(text: &str) -> Results {
    let noise = [2.0, 2.02, 2.01, 1.99, 2.0, 2.03];
    let mut results = results(text, text, Unit::custom(text), Better::Lower, &[(text, &[1.0; 6]), ("other", &noise)]);
    add_metric(&mut results, &format!("{text}2"), Unit::SECOND, Some(Better::Higher));
    results.experiment = text.into();
    results.presentation.title = text.into();
    results.presentation.question = text.into();
    results.warnings = vec![text.into()];
    let run = &mut results.runs[0];
    run.run = text.into();
    run.started.version = text.into();
    run.images = vec![(text.into(), text.into())];
    let host = &mut run.started.host;
    for field in [&mut host.name, &mut host.os, &mut host.kernel, &mut host.arch, &mut host.cpu_model, &mut host.cgroup] {
        *field = text.into();
    }
    run.started.engines[0].endpoint = format!("private: {text}");
    for row in &mut results.rows {
        row.row.metrics.push(Observation { name: format!("{text}2"), value: 0.5, unit: Unit::SECOND });
        row.row.taints = vec![text.into()];
    }
    let mut failed = row(&results, 1, 7, &[]);
    fail(&mut failed, Phase::Start, text);
    failed.row.trial = text.into();
    results.rows.push(failed);
    let attested = |found: &str| Attested {
        unit: text.into(),
        setting: text.into(),
        asked: text.into(),
        found: Some(found.into()),
        source: text.into(),
    };
    // Before every other text, so that the order is the same for all of them.
    results.rows[0].row.attested = vec![attested("\u{1}"), attested(text)];
    results
}

fn judged(results: &Results, text: &str) -> Analysis {
    let mut analysis = analyse(results);
    analysis.cautions.push(text.into());
    analysis.limiters.push(Limiter { variant: 0, check: None, words: text.into() });
    analysis
}

fn chart(text: &str) -> [ChartRef<'_>; 1] {
    [ChartRef { file: format!("{text}.png"), alt: text.into(), png: b"not a picture", ..ChartRef::default() }]
}

/// The tags of a page in their order, each with the names of its attributes; without those of code, which a caution may mark up.
fn tags(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        // A tag ends where no quote is open.
        let mut quoted = false;
        let end = rest.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let tag = &rest[..end.expect("every tag ends")];
        rest = &rest[tag.len()..];
        let outside: Vec<&str> = tag.split('"').step_by(2).collect();
        if !["code", "/code", "wbr"].iter().any(|name| tag.split(' ').next() == Some(name)) {
            found.push(outside.join("\"\""));
        }
        for raw in ["style", "script"] {
            if tag == raw {
                rest = &rest[rest.find(&format!("</{raw}>")).expect("it ends")..];
            }
        }
    }
    found
}

/// Characters that act instead of being seen, line ends apart.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c) || c == '\u{200f}'
}

#[test]
fn no_text_becomes_a_tag_an_attribute_or_a_link() {
    let made = |text: &str| {
        let results = everywhere(text);
        let [_, (name, html)] =
            pages(&results, &judged(&results, text), &chart(text), &Own::default()).expect("pages").try_into().expect("two pages");
        assert_eq!(name, "index.html");
        html
    };
    let benign = tags(&made("benign"));
    assert!(benign.len() > 200, "{benign:?}");
    for text in HOSTILE {
        let html = made(text);
        assert_eq!(tags(&html), benign, "{text:?}");
        assert!(!html.contains(acts), "{text:?}");
        for address in html.split("href=\"").skip(1).chain(html.split("src=\"").skip(1)) {
            let address = address.split('"').next().unwrap_or_default();
            let ours = address.starts_with('#')
                || address.ends_with(".csv")
                || ["data:,", "data:image/png;base64,bm90IGEgcGljdHVyZQ=="].contains(&address);
            assert!(ours, "{text:?}: {address}");
        }
    }
}

#[test]
fn no_text_becomes_markdown() {
    for text in HOSTILE {
        let results = everywhere(text);
        let made = page(&results, &judged(&results, text), &chart(text), None).expect("a page");
        assert_tables_hold(&made);
        assert!(!made.contains(acts), "{text:?}: {made}");
        // A line that begins with a code span is no fence: the span ends on it.
        let fence = |line: &str| line.starts_with("```") && !line.trim_start_matches('`').contains('`');
        let blocks: Vec<&str> = made.lines().filter(|line| line.starts_with('#') || fence(line)).collect();
        let ours = ["# ", "## ", "### Against", "### Other", "```console", "```"];
        assert!(blocks.iter().all(|line| ours.iter().any(|start| line.starts_with(start))), "{text:?}: {blocks:?}");
        assert_eq!(blocks.iter().filter(|line| fence(line) || line.starts_with("# ")).count(), 3, "{text:?}: {blocks:?}");
    }
}

#[test]
fn no_text_becomes_a_formula_a_second_cell_or_an_order_to_a_terminal() {
    for text in HOSTILE {
        let results = everywhere(text);
        let analysis = judged(&results, text);
        let files = [
            tables::trials_csv(&results),
            tables::summary_csv(&results, &analysis),
            tables::effects_csv(&results, &analysis),
            tables::factors_csv(&results),
            tables::metrics_csv(&results),
        ];
        for file in files {
            let table = String::from_utf8(file.clone()).expect("text");
            assert!(!table.contains(acts), "{text:?}: {table}");
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.as_slice());
            for cell in reader.records().flat_map(|row| row.expect("rows of equal length").iter().map(str::to_owned).collect::<Vec<_>>()) {
                assert!(!cell.starts_with(['=', '@', '+', '\t', '\r', '\n']), "{text:?}: {cell:?}");
                assert!(!cell.starts_with('-') || cell.parse::<f64>().is_ok(), "{text:?}: {cell:?}");
            }
        }
        for line in answers(&results, &analysis) {
            assert!(!line.contains(acts) && !line.contains('\n'), "{text:?}: {line:?}");
        }
    }
}

#[test]
fn a_text_is_read_as_it_was_written() {
    let html = html_of(&everywhere("<b> & \"c\" 'd' \u{202e}e"));
    let shown = "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ⟨U+202E⟩e";
    assert!(html.contains(&format!("<title>{shown}</title>")), "{html}");
    assert!(html.contains(&format!("<h1 dir=\"auto\">{shown}</h1>")) && html.contains(&format!("<td dir=\"auto\">{shown}</td>")));
}
