//! Templates, patches and vars, seen through whole plans.

use super::{saved_plan, wrong};
use shakedown::model::spec::UnitSpec;

fn unit(text: &str, id: &str) -> UnitSpec {
    let saved = saved_plan(text);
    let variant = saved.variants.into_iter().find(|variant| variant.id == id).unwrap_or_else(|| panic!("{id}"));
    variant.spec.workloads.into_iter().next().expect("workload").unit
}

#[test]
fn undefined_names_have_a_place_and_the_nearest_name() {
    let table = [
        (
            "matrix: {network: [a]}\nworkload:\n  image: tool\n  command: run {{ netwrok }}\n",
            vec!["4:12: undefined name `netwrok` / did you mean `network`?"],
        ),
        (
            "vars: {port: 80}\nworkload: {image: tool, command: 'run {{ port + prot }}', user: '{{ usr }}'}\n",
            vec!["2:34: undefined name `prot` / did you mean `port`?", "2:65: undefined name `usr` / known: host, port"],
        ),
        ("vars: {a: '{{ b }}', b: 1}\nworkload: {image: tool}\n", vec!["1:11: undefined name `b` / known: host"]),
        ("workload: {image: tool, cpus: '{{ 0 * 2 }}'}\n", vec!["1:31: `cpus`: `0` is not a number above 0"]),
        (
            "vars: {port: 1}\nworkload: {image: tool, files: [{template: torn.j2, target: /x}]}\n",
            vec!["2:33: template `torn.j2`: undefined name `prot` / did you mean `port`?"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn a_host_process_has_the_hosts_own_files() {
    let refused =
        |text: &str| wrong(text).into_iter().map(|said| said.split(';').next().unwrap_or_default().to_owned()).collect::<Vec<_>>();
    for (key, value) in [("image", "tool"), ("build", "."), ("build", "{context: .}"), ("archive", "a.tar")] {
        let expected =
            format!("1:{}: `{key}` cannot be honoured with `on: host`: a host process runs the host's own files", 38 + key.len());
        let text = format!("workload: {{on: host, command: run, {key}: {value}}}\n");
        assert_eq!(refused(&text), [expected], "{text}");
    }
    let mixed = "matrix: {where: {in: , out: {workload: {on: host, image: ~}}}}\nworkload: {image: tool, command: run}\n";
    assert_eq!(wrong(mixed), Vec::<String>::new());
    assert_eq!(wrong("workload: {on: host, command: run, pack: [/bin/true]}\n"), Vec::<String>::new());
}

#[test]
fn vars_use_factors_and_vars_before_them() {
    let text = "matrix: {size: [2, 3.10]}\nvars: {double: '{{ size * 2 }}', text: 'n={{ double }}', tag: 'v{{ size }}'}\n\
                workload: {image: 'tool:{{ tag }}', command: [run, '{{ text }}', '{{ double }}']}\n";
    assert_eq!(unit(text, "size=2").command, ["run", "n=4", "4"]);
    assert_eq!(unit(text, "size=3.10").command, ["run", "n=6.2", "6.2"]);
    let saved = saved_plan(text);
    assert_eq!(
        serde_json::Value::Object(saved.variants[1].vars.clone()),
        serde_json::json!({"size": 3.1, "double": 6.2, "text": "n=6.2", "tag": "v3.10"})
    );
}

#[test]
fn a_level_is_merged_key_by_key_and_clears_with_null() {
    let text = "\
vars: {n: 1}
matrix:
  mode:
    plain:
    big: {workload: {environment: {B: '9'}, command: [other, '{{ n }}', '{{ mode }}']}, vars: {n: 5}}
    bare: {workload: {environment: {A: ~, C: '3'}, cpus: ~, files: ~, ulimits: {nofile: ~}, build: ~, parse: ~}}
workload:
  image: tool
  command: [run, '{{ n }}']
  environment: {A: '1', B: '2'}
  cpus: 2
  ulimits: {nofile: 10, core: 0}
  files: [{content: x, target: /x}]
  parse: sysbench
";
    let environment = |unit: &UnitSpec| unit.environment.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ");
    let plain = unit(text, "mode=plain");
    assert_eq!((environment(&plain).as_str(), &plain.command[..]), ("A=1 B=2", &["run".to_owned(), "1".to_owned()][..]));
    let big = unit(text, "mode=big");
    assert_eq!((environment(&big).as_str(), big.command.join(" ").as_str()), ("A=1 B=9", "other 5 big"));
    let bare = unit(text, "mode=bare");
    assert_eq!(environment(&bare), "B=2 C=3");
    assert_eq!((bare.limits.cpus, bare.files.len(), &bare.container.ulimits[..]), (None, 0, &[("core".to_owned(), 0, 0)][..]));
    let saved = saved_plan(text);
    assert_eq!(saved.variants[2].spec.workloads[0].parse, []);
    assert_eq!(saved.variants[0].spec.workloads[0].parse.len(), 1);
}

#[test]
fn two_factors_that_set_one_thing_differently_are_an_error() {
    let text = "\
matrix:
  a: {one: {workload: {cpus: 1}}, two: {workload: {cpus: 2}}}
  b: {low: {workload: {cpus: 1, user: x}}, free: {workload: {user: y}}}
workload: {image: tool}
";
    assert_eq!(
        wrong(text),
        [
            "3:30: `a=two` and `b=low` both set `workload.cpus`, to different things / set it in one of the two factors, or exclude the combination"
        ]
    );
    assert_eq!(wrong(&text.replace("workload: {image", "exclude: [{a: two, b: low}]\nworkload: {image")), Vec::<String>::new());
}

#[test]
fn a_file_may_include_another_template() {
    let text =
        "vars: {port: 81}\nmatrix: {tag: [3.10]}\nworkload: {image: tool, files: [{template: server.conf.j2, target: /etc/s.conf}]}\n";
    assert_eq!(unit(text, "tag=3.10").files[0].content, "port 81;\ntag 3.10;");
}

#[test]
fn a_problem_of_every_variant_is_said_once() {
    let text = "matrix: {a: [1, 2, 3], b: [1, 2]}\nworkload: {image: tool, command: 'run {{ aa }}'}\n";
    assert_eq!(wrong(text), ["2:34: undefined name `aa` / known: a, b, host"]);
}
