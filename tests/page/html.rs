//! The page in HTML: what it holds, in which order, and what those need who do not see it or have no script.

use super::{charts, example, html_of, pages};
use crate::analyse::results;
use shakedown::analyse::analyse;
use shakedown::model::metric::{Better, Unit};
use shakedown::report::page::Own;

fn example_page() -> String {
    let results = example();
    let [_, (_, made)] = pages(&results, &analyse(&results), &charts(), &Own::default()).expect("pages").try_into().expect("two");
    made
}

/// What stands between the first `start` and the next `end`.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).unwrap_or_else(|| panic!("{start}")).0
}

#[test]
fn it_is_told_in_this_order() {
    let made = example_page();
    assert_eq!(made, example_page(), "the same results give the same bytes");
    let order = [
        "<h1 dir=\"auto\">What `--cpus` does to one thread</h1>",
        "<p class=\"question\" dir=\"auto\">Is half the CPU twice the time?</p>",
        "<div><dt>trials</dt><dd dir=\"auto\">30, 1 failed</dd></div>",
        "<h2 id=\"answer\">",
        "The baseline is <code dir=\"auto\">cpus=1</code>.",
        "<strong>The runs warned</strong>",
        "<h2 id=\"verdicts\">",
        "<h2 id=\"charts\">",
        "<h2 id=\"levels\">",
        "<h2 id=\"failures\">",
        "<h2 id=\"trials\">",
        "<h2 id=\"method\">",
        "seed 7",
        "<h2 id=\"environment\">",
        "<h2 id=\"attested\">",
        "<h2 id=\"again\">",
        "<pre><code>shakedown run experiments/example.yaml --fresh\nshakedown report experiments/example.yaml</code></pre>",
        "<a href=\"trials.csv\">trials.csv</a>",
    ];
    let mut rest = made.as_str();
    for part in order {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} is not behind what stands before it\n{made}")).1;
    }
    let row = between(&made, "<tr><th scope=\"row\"><code dir=\"auto\">cpus=0.5</code></th>", "</tr>");
    let mark = "<span class=\"pill different worse\"><span class=\"mark\" aria-hidden=\"true\">≠</span>different (worse)</span>";
    assert!(row.contains(mark) && row.contains("<td class=\"n\" data-value=\"2.01"), "{row}");
}

#[test]
fn it_asks_for_nothing_from_outside() {
    let made = example_page();
    let policy =
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    assert!(made.contains(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")));
    for outside in ["http:", "https:", "//cdn", "@import", "url("] {
        assert!(!made.contains(outside), "{outside}");
    }
}

#[test]
fn it_can_be_read_without_eyes_and_without_a_script() {
    let made = example_page();
    assert!(made.contains("<html lang=\"en\">") && made.contains("<a class=\"skip\" href=\"#main\">"));
    for landmark in ["<header>", "<nav aria-label=", "<main id=\"main\">", "<footer>"] {
        assert_eq!(made.matches(landmark).count(), 1, "{landmark}");
    }
    let levels: Vec<u32> = made.match_indices("<h").filter_map(|(at, _)| made[at + 2..].chars().next()?.to_digit(10)).collect();
    assert_eq!((levels[0], levels.iter().filter(|level| **level == 1).count()), (1, 1), "one title");
    assert!(levels.windows(2).all(|two| two[1] <= two[0] + 1), "no level is skipped: {levels:?}");
    let tables: Vec<&str> = made.split("<table").skip(1).map(|rest| rest.split("</table>").next().expect("an end")).collect();
    assert!(tables.len() > 6);
    for table in tables {
        assert!(table.contains("<caption>") && table.contains("<th scope=\"row\">") && !table.contains("<th>"), "{table}");
    }
    assert!(made.split("<img").skip(1).all(|image| image.split('>').next().is_some_and(|image| image.contains(" alt=\"Ratios"))));
    let links = made.split("href=\"#").skip(1).map(|rest| rest.split('"').next().expect("an end"));
    for link in links {
        assert!(made.contains(&format!("id=\"{link}\"")), "{link} leads nowhere");
    }
    let (before, script) = made.split_once("<script>").expect("a script");
    assert!(!before.contains("<button") && !before.contains(" hidden"), "what needs the script is made by it");
    assert!(script.contains("aria-sort") && script.contains("aria-live"));
}

#[test]
fn of_very_many_trials_the_first_are_shown() {
    let values = vec![1.0; 1_050];
    let results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &values), ("b", &values)]);
    let made = html_of(&results);
    assert!(made.contains("<p class=\"quiet\">The first 2,000 of 2,100 trials; trials.csv has all of them.</p>"));
    let table = between(&made, "<caption>Every trial", "</table>");
    assert_eq!(table.matches("<tr>").count(), 2_001);
    assert!(!table.contains("<th scope=\"col\">run</th>"), "there is one run");
    assert!(example_page().contains("<th scope=\"col\">run</th><th scope=\"col\">trial</th>"));
}
