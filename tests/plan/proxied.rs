//! Docker-proxy on the path is told by the plan.

use super::{experiment, planned};
use shakedown::plan::{History, Options};

/// The warning of a manifest, and its help.
fn warned(text: &str) -> Option<(String, String)> {
    let experiment = experiment(text);
    let planned = planned(&experiment, &History::new(), &Options::default());
    let found = planned.warnings.iter().find(|warning| warning.message.starts_with("docker-proxy is on the path"));
    found.map(|warning| (warning.message.clone(), warning.help.clone().unwrap_or_default()))
}

/// A stack with one published port, and a workload that aims at it.
fn stack(engine: &str, ports: &str, workload: &str) -> String {
    format!("engine: {{{engine}}}\nservices: {{web: {{image: nginx, ports: [{ports}]}}}}\nworkload: {{{workload}}}\n")
}

#[test]
fn a_client_that_reaches_a_port_through_docker_proxy_is_told_before_anything_runs() {
    let (private, without) = ("storage_driver: overlay2", "userland_proxy: false");
    let on_host = |url: &str| format!("on: host, command: 'ab -n 1 {url}'");
    let inside = |url: &str| format!("image: x, command: 'ab -n 1 {url}'");
    let fixed = "'127.0.0.1:5000:80'";
    let table = [
        (private, fixed, on_host("http://127.0.0.1:5000/"), Some("127.0.0.1:5000")),
        (private, fixed, on_host("http://localhost:5000/"), Some("localhost:5000")),
        (private, "'5000:80'", on_host("http://[::1]:5000/"), Some("[::1]:5000")),
        ("", fixed, on_host("http://127.0.0.1:5000/"), Some("127.0.0.1:5000, unless its daemon runs without")),
        (private, "80", on_host("http://{{ web.host }}:{{ web.port }}/"), Some("127.0.0.1:its published port")),
        (private, "'198.18.0.1:5000:80'", on_host("http://{{ web.host }}:{{ web.port }}/"), None),
        (private, "'5000:80'", inside("http://{{ host.ip }}:5000/"), Some("the host's own address:5000")),
        (private, "'5000:80'", on_host("http://{{ host.ip }}:5000/"), None),
        (private, "'5000:80'", on_host("http://{{ web.ip }}:80/"), None),
        (private, fixed, on_host("http://127.0.0.1:50001/"), None),
        (private, fixed, inside("http://127.0.0.1:5000/"), None),
        (private, fixed, format!("{}, network_mode: host", inside("http://127.0.0.1:5000/")), Some("127.0.0.1:5000")),
        (without, fixed, on_host("http://127.0.0.1:5000/"), None),
    ];
    for (engine, ports, workload, endpoint) in table {
        let text = stack(engine, ports, &workload);
        let expected = endpoint.map(|endpoint| format!("docker-proxy is on the path: the workload reaches `web` at {endpoint};"));
        match (warned(&text), expected) {
            (None, None) => {}
            (Some((message, help)), Some(expected)) => {
                assert!(message.starts_with(&expected), "{message}\n{text}");
                assert!(help.contains("{{ web.ip }}"), "{help}");
            }
            (found, _) => panic!("{found:?}\n{text}"),
        }
    }
}

#[test]
fn the_variants_are_named_and_a_path_that_is_a_factor_is_fine() {
    let text = stack("storage_driver: overlay2", "'5000:80'", "on: host, command: 'ab {{ url }}'");
    let matrix = |levels: &str| format!("{text}matrix: {{path: {{{levels}}}}}\nvars: {{url: x}}\n");
    let own = "own: {vars: {url: 'http://{{ web.ip }}/'}}";
    let looped = |name: &str| format!("{name}: {{vars: {{url: 'http://127.0.0.1:5000/{name}'}}}}");
    let (message, help) = warned(&matrix(&format!("{own}, {}", looped("a")))).expect("a warning");
    assert!(message.contains(": `path=a` reaches `web`") && help.starts_with("that is fine"), "{message} {help}");
    let (message, help) = warned(&matrix(&format!("{}, {}", looped("a"), looped("b")))).expect("a warning");
    assert!(message.contains(": all 2 variants reach `web`") && help.starts_with("aim at `{{ web.ip }}`"), "{message} {help}");
    let many: Vec<String> = ["a", "b", "c", "d"].map(looped).to_vec();
    let (message, _) = warned(&matrix(&format!("{own}, {}", many.join(", ")))).expect("a warning");
    assert!(message.contains(": `path=a` and 3 more variants reach `web`"), "{message}");
}
