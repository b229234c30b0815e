//! What makes a variant stale, and what does not; what a record may not hold.

use super::{done, experiment, planned, reasons, saved_plan};
use shakedown::model::plan::VariantHistory;
use shakedown::plan::{History, Options};

const BASE: &str = "\
title: Images
question: Which is faster?
matrix:
  size: [small, large]
  tag: [v1, v2]
workload:
  image: tool:{{ tag }}
  command: run fast {{ size }}
  environment: {B: '2', A: '1'}
  timeout: 1m
  parse: {regex: {score: 'score (\\d+)', rate: 'rate (\\d+)'}}
design: {blocks: 3, seed: 7}
";

const NOTHING: [&str; 5] = ["up to date"; 5];

/// An edit: what it replaces by what, the reasons of the four variants and the A/A copy, and how many trials are planned.
struct Edit {
    what: &'static str,
    from: &'static str,
    to: &'static str,
    reasons: &'static [&'static str],
    trials: usize,
}

#[test]
fn each_edit_of_a_finished_experiment_runs_what_it_changes_and_nothing_else() {
    let stale = |why: &'static str| -> &'static [&'static str] { Vec::leak(vec![why; 5]) };
    let table = [
        Edit { what: "nothing", from: "title", to: "title", reasons: &NOTHING, trials: 0 },
        Edit { what: "a comment", from: "title: Images", to: "# Note\ntitle: Images # again", reasons: &NOTHING, trials: 0 },
        Edit { what: "title and question", from: "Images\nquestion: Which", to: "Tools\nquestion: What", reasons: &NOTHING, trials: 0 },
        Edit { what: "3 blocks to 5", from: "blocks: 3", to: "blocks: 5", reasons: stale("more blocks (3 of 5)"), trials: 2 * 5 },
        Edit { what: "fewer blocks", from: "blocks: 3", to: "blocks: 2", reasons: &NOTHING, trials: 0 },
        Edit { what: "the seed", from: "seed: 7", to: "seed: 8", reasons: &NOTHING, trials: 0 },
        Edit { what: "margins", from: "seed: 7", to: "seed: 7, margin: 5%, min_effect: 2%, min_window: 2s", reasons: &NOTHING, trials: 0 },
        Edit { what: "a time-out", from: "timeout: 1m", to: "timeout: 2m", reasons: &NOTHING, trials: 0 },
        Edit { what: "limits", from: "design:", to: "limits: {create: 9m, attempts: 5}\ndesign:", reasons: &NOTHING, trials: 0 },
        Edit {
            what: "metrics and a formula",
            from: "design:",
            to: "metrics: {score: {better: higher}, cost: {expr: wall * 2, primary: true}}\ndesign:",
            reasons: &NOTHING,
            trials: 0,
        },
        Edit {
            what: "charts",
            from: "design:",
            to: "charts: [{kind: trials, metric: wall}, {kind: bars, title: Images, svg: true}]\ndesign:",
            reasons: &NOTHING,
            trials: 0,
        },
        Edit { what: "no charts", from: "design:", to: "charts: []\ndesign:", reasons: &NOTHING, trials: 0 },
        Edit {
            what: "factor order",
            from: "  size: [small, large]\n  tag: [v1, v2]",
            to: "  tag: [v1, v2]\n  size: [small, large]",
            reasons: &NOTHING,
            trials: 0,
        },
        Edit { what: "level order", from: "large]\n  tag: [v1, v2]", to: "large]\n  tag: [v1, v2]", reasons: &NOTHING, trials: 0 },
        Edit {
            what: "key order",
            from: "image: tool:{{ tag }}\n  command: run fast {{ size }}\n  environment: {B: '2', A: '1'}",
            to: "environment: [A=1, B=2]\n  command: [run, fast, '{{ size }}']\n  image: 'tool:{{ tag }}'",
            reasons: &NOTHING,
            trials: 0,
        },
        Edit {
            what: "order of extractions and a direction",
            from: "{score: 'score (\\d+)', rate: 'rate (\\d+)'}",
            to: "{rate: {pattern: 'rate (\\d+)', better: higher}, score: 'score (\\d+)'}",
            reasons: &NOTHING,
            trials: 0,
        },
        Edit {
            what: "the command",
            from: "run fast",
            to: "run slow",
            reasons: stale("stale (workload.command.1: fast -> slow)"),
            trials: 3 * 5,
        },
        Edit {
            what: "the image's name",
            from: "image: tool:",
            to: "mem_limit: 1m\n  image: tool:",
            reasons: stale("stale (workload.mem_limit: nothing -> 1048576)"),
            trials: 3 * 5,
        },
        Edit {
            what: "a variable, and one more",
            from: "A: '1'",
            to: "A: '3', C: '4'",
            reasons: stale("stale (workload.environment.A: 1 -> 3; workload.environment.C: nothing -> 4)"),
            trials: 3 * 5,
        },
        Edit {
            what: "a pattern",
            from: "'rate (\\d+)'",
            to: "'rate ([0-9]+)'",
            reasons: stale("stale (workload.parse.0.regex.rate.pattern: rate (\\d+) -> rate ([0-9]+))"),
            trials: 3 * 5,
        },
    ];
    let history = done(BASE, 3);
    for edit in table {
        assert!(BASE.contains(edit.from), "{}", edit.what);
        let (reasons, trials) = reasons(&BASE.replace(edit.from, edit.to), &history, &Options::default());
        let said: Vec<&str> = reasons.iter().map(|(_, reason)| reason.as_str()).collect();
        assert_eq!(said, edit.reasons, "{}", edit.what);
        assert_eq!(trials, edit.trials, "{}", edit.what);
    }
}

/// What stands around the workload, each changed on its own.
#[test]
fn changes_of_the_stack_are_told_in_the_manifest_s_own_words() {
    let base = "\
engine: {storage_driver: overlay2, backing: {filesystem: ext4, size: 8g}, daemon: {mtu: 1400}}
networks: {front: {driver: ipvlan, enable_ipv6: false, subnet: 10.9.0.0/24, driver_opts: {parent: sd1}}}
volumes: {data: {tmpfs: 64m}}
services:
  web:
    image: nginx:1
    command: serve 1
    cpus: 1
    mem_limit: 64m
    environment: {A: a}
    networks: [front]
    volumes: ['data:/d']
    ready: {http: 'http://x/1', successes: 3}
    prepare: [fill 1]
  db: {image: maria, ready: {exec: look 1}, ports: ['80']}
workload: {image: tool, command: run, prepare: [step 1]}
";
    let history = done(base, 10);
    let table = [
        ("image: nginx:1", "image: nginx:2", "web.image: nginx:1 -> nginx:2"),
        ("serve 1", "serve 2", "web.command.1: 1 -> 2"),
        ("cpus: 1", "cpus: 2", "web.cpus: 1.0 -> 2.0"),
        ("mem_limit: 64m", "mem_limit: 1m", "web.mem_limit: 67108864 -> 1048576"),
        ("{A: a}", "{A: b}", "web.environment.A: a -> b"),
        ("{A: a}", "{A: a, bytes: 1}", "web.environment.bytes: nothing -> 1"),
        ("http://x/1", "http://x/2", "web.ready.http: http://x/1 -> http://x/2"),
        ("successes: 3", "successes: 1", "web.ready.successes: 3 -> 1"),
        ("fill 1", "fill 2", "web.prepare.0.command.1: 1 -> 2"),
        ("look 1", "look 2", "db.ready.exec.1: 1 -> 2"),
        ("ports: ['80']", "ports: ['81']", "db.ports.0.target: 80 -> 81"),
        ("step 1", "step 2", "workload.prepare.0.command.1: 1 -> 2"),
        ("storage_driver: overlay2", "storage_driver: vfs", "engine.storage_driver: overlay2 -> vfs"),
        ("filesystem: ext4", "filesystem: xfs", "engine.backing.filesystem: ext4 -> xfs"),
        ("size: 8g", "size: 4g", "engine.backing.size: 8589934592 -> 4294967296"),
        ("mtu: 1400", "mtu: 1500", "engine.daemon.mtu: 1400 -> 1500"),
        ("storage_driver: overlay2,", "storage_driver: overlay2, userland_proxy: false,", "engine.userland_proxy: true -> false"),
        ("tmpfs: 64m", "tmpfs: 1m", "volumes.data.tmpfs: 67108864 -> 1048576"),
        ("subnet: 10.9.0.0/24", "subnet: 10.8.0.0/24", "networks.front.subnet: 10.9.0.0/24 -> 10.8.0.0/24"),
        ("enable_ipv6: false", "enable_ipv6: true", "networks.front.enable_ipv6: nothing -> true"),
        ("parent: sd1", "parent: sd2", "networks.front.driver_opts.parent: sd1 -> sd2"),
    ];
    for (from, to, reason) in table {
        assert!(base.contains(from), "{from}");
        let (found, trials) = reasons(&base.replacen(from, to, 1), &history, &Options::default());
        assert_eq!((found[0].1.as_str(), trials), (format!("stale ({reason})").as_str(), 20), "{to}");
    }
}

#[test]
fn a_level_that_changes_or_comes_runs_alone_with_the_baseline() {
    let history = done(BASE, 3);
    let old = |id: &str, reason: &str| (id.to_owned(), reason.to_owned());
    let baseline = "baseline, measured again beside the others";
    let (found, trials) = reasons(&BASE.replace("[v1, v2]", "[v1, v3]"), &history, &Options::default());
    let expected = [
        old("size=small,tag=v1", baseline),
        old("size=small,tag=v3", "new"),
        old("size=large,tag=v1", "up to date"),
        old("size=large,tag=v3", "new"),
        old("size=small,tag=v1#aa", baseline),
    ];
    assert_eq!((&found[..], trials), (&expected[..], 3 * 4));
    let (found, trials) = reasons(&BASE.replace("[small, large]", "[small, large, huge]"), &history, &Options::default());
    let new: Vec<&str> = found.iter().filter(|(_, reason)| reason == "new").map(|(id, _)| id.as_str()).collect();
    assert_eq!((new, trials), (vec!["size=huge,tag=v1", "size=huge,tag=v2"], 3 * 4));
    assert_eq!(found.iter().filter(|(_, reason)| reason == "up to date").count(), 3);
}

#[test]
fn a_level_that_changes_its_patch_is_stale_alone() {
    let text = "workload: {image: tool, command: run}\n\
                matrix: {mode: {plain: {workload: {cpus: 1}}, tuned: {workload: {cpus: 2}}}}\ndesign: {blocks: 4}\n";
    let (found, trials) = reasons(&text.replace("cpus: 2", "cpus: 3"), &done(text, 4), &Options::default());
    assert_eq!(found[1], ("mode=tuned".to_owned(), "stale (workload.cpus: 2.0 -> 3.0)".to_owned()));
    assert_eq!((found[0].1.as_str(), trials), ("baseline, measured again beside the others", 4 * 3));
    let spelled = text.replace("cpus: 1}", "cpus: 1.0}").replace("cpus: 2}", "cpus: '2'}");
    assert_eq!(reasons(&spelled, &done(text, 4), &Options::default()).1, 0, "another spelling of the same number");
}

#[test]
fn reasons_follow_the_history() {
    let text = "workload: {on: host, command: 'run {{ a }}'}\nmatrix: {a: [1, 2]}\ndesign: {blocks: 4}\n";
    let past = |good: u32, failure: Option<&str>| -> History {
        let mut history = done(text, 4);
        let variant = history.get_mut("a=2").expect("variant");
        let good = (1..=good).map(|block| (0, block)).collect();
        *variant = VariantHistory { good, failure: failure.map(str::to_owned), ..variant.clone() };
        history
    };
    let fresh = Options { fresh: true, ..Options::default() };
    let more = Options { blocks: Some(6), ..Options::default() };
    let only = Options { only: vec![("a".to_owned(), "1".to_owned())], ..Options::default() };
    let usual = Options::default();
    let table = [
        (past(4, None), &usual, "up to date", 0),
        (past(3, None), &usual, "more blocks (3 of 4)", 3),
        (past(0, None), &usual, "new", 12),
        (past(3, Some("measure: exit code 1")), &usual, "failed before (measure: exit code 1)", 3),
        (past(0, Some("start: no such file")), &usual, "failed before (start: no such file)", 12),
        (past(4, Some("measure: exit code 1")), &usual, "up to date", 0),
        (past(4, None), &fresh, "fresh (asked for)", 12),
        (History::new(), &fresh, "new", 12),
        (past(4, None), &more, "more blocks (4 of 6)", 6),
        (past(0, None), &only, "up to date", 0),
    ];
    for (index, (history, options, reason, trials)) in table.into_iter().enumerate() {
        let (found, count) = reasons(text, &history, options);
        assert_eq!((found[1].1.as_str(), count), (reason, trials), "{index}");
    }
}

/// What is compared are pairs: a trial without its baseline answers nothing, and has to be measured again beside one.
#[test]
fn only_blocks_that_the_baseline_has_count() {
    let text = "workload: {on: host, command: 'run {{ a }}'}\nmatrix: {a: [1, 2]}\ndesign: {blocks: 4}\n";
    let without = |id: &str, blocks: &[u32]| {
        let mut history = done(text, 4);
        let good = &mut history.get_mut(id).expect("variant").good;
        blocks.iter().for_each(|block| assert!(good.remove(&(0, *block))));
        reasons(text, &history, &Options::default())
    };
    let more = |have: u32| format!("more blocks ({have} of 4)");
    let beside = "baseline, measured again beside the others".to_owned();
    let table = [
        ("a=1", &[2][..], [more(3), more(3)], 3),
        ("a=1", &[1, 2, 3, 4], ["new".to_owned(), more(0)], 12),
        ("a=2", &[2, 3], [beside.clone(), more(2)], 6),
        ("a=1#aa", &[3], [beside, "up to date".to_owned()], 2),
    ];
    for (id, blocks, expected, count) in table {
        let (found, trials) = without(id, blocks);
        let said: Vec<&String> = found[..2].iter().map(|(_, reason)| reason).collect();
        assert_eq!((said, trials), (expected.iter().collect(), count), "{id} {blocks:?}");
    }
    // A baseline that has changed is compared with nothing yet; another one has been beside all others, but has no copy.
    let changed = "matrix: {a: {1: {workload: {cpus: 1}}, 2: }}\nworkload: {on: host, command: 'run {{ a }}'}\ndesign: {blocks: 4}\n";
    assert_eq!(reasons(changed, &done(text, 4), &Options::default()).1, 12);
    assert_eq!(reasons(&format!("{text}baseline: {{a: 2}}\n"), &done(text, 4), &Options::default()).1, 8);
}

/// Two factors that each add a variable, a limit and a file's var: which one stands first in the text means nothing.
#[test]
fn the_order_of_patching_factors_changes_nothing() {
    let factors = [
        "  z: {on: {workload: {environment: {Z: '1'}, ulimits: {nofile: 9}}, vars: {v: 1}}, off: }\n",
        "  a: {on: {workload: {environment: {A: '1'}, ulimits: {core: 0}}, vars: {w: 2}}, off: }\n",
    ];
    let text = |first: usize, second: usize| {
        format!("workload: {{image: tool, command: run, environment: {{M: '0'}}}}\nmatrix:\n{}{}", factors[first], factors[second])
    };
    let identities = |text: &str| {
        let mut variants: Vec<_> = saved_plan(text).variants.into_iter().map(|v| (v.id, v.identity)).collect();
        variants.sort();
        variants
    };
    assert_eq!(identities(&text(0, 1)), identities(&text(1, 0)));
    assert_eq!(reasons(&text(1, 0), &done(&text(0, 1), 10), &Options::default()).1, 0);
}

/// A saved plan speaks of levels by index, so it may only be followed under the same factors in the same order.
#[test]
fn the_digest_of_a_plan_tells_orders_apart_that_share_all_ids() {
    let digest = |matrix: &str| {
        let experiment = experiment(&format!("workload: {{on: host, command: run}}\nmatrix: {matrix}\n"));
        planned(&experiment, &History::new(), &Options::default()).plan.digest
    };
    assert_eq!(digest("{a: [1, 2], b: [x]}"), digest("{a: [1, 2], b: [x]}"));
    assert_ne!(digest("{a: [1, 2], b: [x]}"), digest("{b: [x], a: [1, 2]}"));
    assert_ne!(digest("{a: [1, 3]}"), digest("{a: [1, 2, 3]}\nexclude: [{a: 2}]"));
}

#[test]
fn secrets_stay_out_of_the_record_and_of_reasons() {
    let text = "\
vars: {db_password: hunter2, keys: 1000, nested: {api_token: hunter2, port: 80}}
workload:
  image: tool
  entrypoint: [init, --token, hunter2]
  environment: {DB_PASSWORD: '{{ db_password }}', API_KEY: hunter2, PLAIN: seen}
  command: [run, --password=hunter2, --secret, hunter2, --verbose, sh, -c, 'cd /x && TOKEN=hunter2 go --api-key hunter2 && PASSWD=\"hunter2 x\" go']
";
    let saved = saved_plan(text);
    let json = serde_json::to_string(&saved).expect("plan");
    assert!(!json.contains("hunter2"), "{json}");
    let unit = &saved.variants[0].spec.workloads[0].unit;
    assert_eq!(
        unit.command,
        ["run", "--password=***", "--secret", "***", "--verbose", "sh", "-c", "cd /x && TOKEN=*** go --api-key *** && PASSWD=*** go"]
    );
    assert_eq!(unit.entrypoint.as_deref(), Some(&["init".to_owned(), "--token".to_owned(), "***".to_owned()][..]));
    assert_eq!(unit.environment.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["***", "***", "seen"]);
    assert_eq!(saved.variants[0].vars["keys"], 1000);
    assert_eq!(saved.variants[0].vars["nested"]["port"], 80);
    let changed = text.replace("hunter2", "hunter3");
    let (found, trials) = reasons(&changed, &done(text, 10), &Options::default());
    assert_eq!((found[0].1.as_str(), trials), ("stale (a value that is not recorded)", 20));
    let both = text.replace("hunter2", "hunter3").replace("seen", "shown");
    let (found, _) = reasons(&both, &done(text, 10), &Options::default());
    assert_eq!(found[0].1, "stale (workload.environment.PLAIN: seen -> shown)");
}

/// A secret goes where templates and people put it: into files, glued to an option, into headers and addresses.
#[test]
fn the_value_of_a_secret_is_gone_wherever_it_stands() {
    let text = r#"
matrix: {api_token: [alpha-1, alpha-2]}
vars: {db_password: hunter2, pin_key: abc, dsn: 'root:{{ db_password }}@db'}
workload:
  image: tool
  working_dir: /abc
  environment: {PLAIN: 'at {{ api_token }}', DSN: '{{ dsn }}', PIN: abc, PIN2: abcd}
  command: [run, '-p{{ db_password }}', -token, beta-1, 'X-Api-Key: beta-2', sh, -c, "curl -H 'X-Secret: beta 3' -d {{ api_token }} x; go TOKEN: beta-4"]
  files: [{target: /etc/app.conf, content: "password {{ db_password }} beta-1"}]
  warmup: {command: 'warm --auth=beta-1 -p{{ db_password }}'}
"#;
    let saved = saved_plan(text);
    let variant = &saved.variants[0];
    let json = serde_json::to_string(&(&variant.spec, &variant.vars)).expect("a spec");
    for value in ["hunter2", "alpha-1", "beta"] {
        assert!(!json.contains(value), "{value}: {json}");
    }
    let unit = &variant.spec.workloads[0].unit;
    let command = ["run", "-p***", "-token", "***", "X-Api-Key: ***", "sh", "-c", "curl -H 'X-Secret: ***' -d *** x; go TOKEN: ***"];
    assert_eq!(unit.command, command);
    assert_eq!(unit.files[0].content, "password *** ***");
    // Three letters are a secret only where nothing else stands.
    assert_eq!(unit.working_dir.as_deref(), Some("/abc"));
    let environment: Vec<&str> = unit.environment.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(environment, ["root:***@db", "***", "abcd", "at ***"]);
    assert_eq!(variant.vars["dsn"], "root:***@db");
    let (found, _) = reasons(&text.replace("hunter2", "hunter3"), &done(text, 10), &Options::default());
    assert_eq!(found[0].1, "stale (a value that is not recorded)");
}

#[test]
fn a_long_list_of_changes_is_counted() {
    let text = "workload: {image: tool, command: run, environment: {A: a, B: a, C: a, D: a, E: a, F: a}}\n";
    let changed = text.replace(": a", ": b");
    let (found, _) = reasons(&changed, &done(text, 10), &Options::default());
    assert!(found[0].1.ends_with("workload.environment.D: a -> b; 2 more)"), "{}", found[0].1);
}
