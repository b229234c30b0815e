//! The page in a real browser: nothing complains, nothing leaves the file, and the tables can be sorted and filtered.

use crate::page::{example, html_of};
use shakedown::analyse::analyse;
use shakedown::record::{self, Store};
use shakedown::report::charts::Fonts;
use shakedown::report::page::Own;
use shakedown::report::render;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a browser made of a page.
struct Opened {
    /// The document when its scripts have run.
    dom: String,
    /// Its console.
    console: Vec<String>,
    /// What it asked the network for.
    requests: Vec<String>,
}

/// Chromium, if it is here. It is an error where engines are required that it is not.
fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join("chromium")).find(|path| path.exists());
    if found.is_none() {
        assert!(std::env::var("SHAKEDOWN_TEST_ENGINE").as_deref() != Ok("required"), "there is no chromium");
        crate::skipped::skip("there is no chromium");
    }
    found
}

fn open(chromium: &Path, html: &str) -> Opened {
    let folder = tempfile::tempdir().expect("folder");
    let (page, log) = (folder.path().join("index.html"), folder.path().join("net.json"));
    std::fs::write(&page, html).expect("page");
    let mut command = Command::new("timeout");
    command.arg("120").arg(chromium);
    command.args(["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]);
    // Where a machine gives shared memory to nobody, pages would die.
    command.arg("--disable-dev-shm-usage");
    // The sandbox cannot be had as root; no name resolves, so that not even the browser itself leaves the machine.
    command.args(rustix::process::geteuid().is_root().then_some("--no-sandbox"));
    command.arg("--host-resolver-rules=MAP * ~NOTFOUND");
    command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    command.arg(format!("--log-net-log={}", log.display()));
    command.args(["--enable-logging=stderr", "--v=0", "--window-size=1280,900", "--dump-dom"]);
    let ended = command.arg(format!("file://{}", page.display())).output().expect("chromium");
    let dom = String::from_utf8(ended.stdout).expect("text");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && dom.contains("</html>"), "{}: {stderr}", ended.status);
    let console = stderr.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    let log = std::fs::read_to_string(&log).expect("a log of the network");
    assert!(log.starts_with('{') && log.contains("\"events\""), "{log}");
    // What has no origin is the browser's own: updates, time, accounts.
    let of_page = |line: &&str| line.contains("\"initiator\":") && !line.contains("\"initiator\":\"not an origin\"");
    let requests = log.lines().filter(of_page).map(str::to_owned).collect();
    Opened { dom, console, requests }
}

/// The checks below would pass on any page if this one did.
#[test]
fn a_page_that_complains_or_asks_the_network_is_noticed() {
    let Some(chromium) = chromium() else { return };
    let page = |body: &str| format!("<!DOCTYPE html><html lang=\"en\"><title>x</title><body>{body}</body></html>");
    let quiet = open(&chromium, &page("<p>quiet</p>"));
    assert_eq!((quiet.console, quiet.requests), (Vec::<String>::new(), Vec::new()));
    let complains = open(&chromium, &page("<script>console.error('not well')</script>"));
    assert!(complains.console.len() == 1 && complains.console[0].contains("not well"), "{:?}", complains.console);
    let throws = open(&chromium, &page("<script>nothing.there()</script>"));
    assert_eq!(throws.console.len(), 1, "{:?}", throws.console);
    let asks = open(&chromium, &page("<img src=\"http://shakedown.invalid/a.png\" alt=\"\">"));
    assert!(asks.requests.iter().any(|request| request.contains("shakedown.invalid/a.png")), "{:?}", asks.requests);
}

#[test]
fn the_page_of_every_committed_report_is_quiet_and_stays_in_its_file() {
    let Some(chromium) = chromium() else { return };
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    let mut names: Vec<String> = std::fs::read_dir(&reports)
        .expect("reports")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.join("runs").is_dir())
        .map(|path| path.file_name().expect("name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        let store = Store::new(&reports, &name);
        let results = record::results(&store, &name, record::load(&store).expect("a record")).expect("results");
        let files = render(&results, &analyse(&results), &Fonts::embedded(), &Own::default(), false).expect("a report").files;
        let page = files.into_iter().find(|(file, _)| file == "index.html").expect("a page").1;
        let opened = open(&chromium, &String::from_utf8(page).expect("text"));
        assert_eq!((opened.console, opened.requests), (Vec::<String>::new(), Vec::new()), "{name}");
        assert!(opened.dom.contains("<button type=\"button\">"), "{name}: the script has run");
    }
}

/// Drives the page as a person would, and leaves what came of it in the document.
const DRIVER: &str = r##"<script>
(() => {
  const table = document.querySelector("#verdicts ~ .scroll table");
  const names = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent).join(" | ");
  const said = [];
  const header = Array.from(table.tHead.rows[0].cells).find((cell) => cell.textContent.trim() === "ratio");
  header.querySelector("button").click();
  said.push(names(), header.getAttribute("aria-sort"));
  header.querySelector("button").click();
  said.push(names(), header.getAttribute("aria-sort"));
  const place = document.querySelector("#trials ~ .filter");
  const status = place.querySelector("[role=status]");
  said.push(status.textContent);
  const field = place.querySelector("input");
  field.value = "CPUS=2 b3";
  field.dispatchEvent(new Event("input"));
  const rows = place.nextElementSibling.querySelectorAll("tbody tr:not([hidden])");
  said.push(status.textContent, rows.length + " shown", rows[0].cells[1].textContent);
  said.push(rows[0].offsetHeight > 0 ? "seen" : "hidden");
  said.push(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide");
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = said.join("\n");
  document.body.append(probe);
})();
</script></body>"##;

#[test]
fn tables_are_sorted_and_filtered() {
    let Some(chromium) = chromium() else { return };
    let page = html_of(&example());
    let opened = open(&chromium, &page.replace("</body>", DRIVER));
    assert_eq!((opened.console, opened.requests), (Vec::<String>::new(), Vec::new()));
    let probe = opened.dom.split("<pre id=\"probe\">").nth(1).and_then(|rest| rest.split("</pre>").next()).expect("the driver has run");
    let expected = [
        "cpus=2 | cpus=1 (A/A control) | cpus=loose | cpus=0.5",
        "ascending",
        "cpus=0.5 | cpus=loose | cpus=1 (A/A control) | cpus=2",
        "descending",
        "31 rows",
        "1 of 31 rows",
        "1 shown",
        "b3p3",
        "seen",
        "fits",
    ];
    assert_eq!(probe.lines().collect::<Vec<_>>(), expected);
}
