//! Services, networks, volumes and engines: what a manifest says becomes specs, and what its parts say of each other must fit.

use super::{saved_plan, wrong};
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem};
use shakedown::model::spec::TrialSpec;
use shakedown::model::stack::{Condition, MountSource, Probe};

fn spec(text: &str) -> TrialSpec {
    saved_plan(text).variants.remove(0).spec
}

#[test]
fn a_stack_is_resolved_with_defaults_and_links() {
    let spec = spec(
        "
engine: {storage_driver: btrfs, backing: {filesystem: btrfs, size: 2g}, userland_proxy: false, daemon: {mtu: 1400}}
networks: {front: {}, unused: {driver: macvlan}}
volumes: {data: {tmpfs: 64m}, other: {}}
services:
  db: {image: mariadb, volumes: ['data:/var/lib/mysql', './conf:/etc/mysql:ro', /scratch], ready: {exec: mariadb-admin ping}, prepare: [mariadb -e x]}
  web:
    image: nginx
    networks: [front]
    ports: ['127.0.0.1:5000:80']
    environment: {DB: '{{ db.ip }}:3306'}
    healthcheck: {test: curl -f http://localhost}
workload: {on: host, command: 'ab http://{{ web.host }}:{{ web.port }}/ {{ host.ip }}', prepare: [{command: sync, on: host}]}
",
    );
    let private = spec.engine.private.as_ref().expect("private");
    assert_eq!(private.backing, Backing { filesystem: Filesystem::Btrfs, bytes: 2 << 30 });
    assert_eq!(private.label(), "btrfs on btrfs, userland_proxy=false, mtu=1400");
    assert_eq!(spec.networks.iter().map(|network| network.name.as_str()).collect::<Vec<_>>(), ["front"]);
    assert_eq!(
        spec.volumes.iter().map(|volume| (volume.name.as_str(), volume.tmpfs_bytes)).collect::<Vec<_>>(),
        [("data", Some(64 << 20))]
    );
    let [db, web] = spec.services.as_slice() else { panic!("{:?}", spec.services) };
    let sources: Vec<&MountSource> = db.unit.volumes.iter().map(|mount| &mount.source).collect();
    assert_eq!(sources, [&MountSource::Volume("data".into()), &MountSource::Bind("./conf".into()), &MountSource::Anonymous]);
    assert_eq!(
        db.ready.as_ref().map(|ready| (&ready.probe, ready.successes)),
        Some((&Probe::Exec(vec!["mariadb-admin".into(), "ping".into()]), 3))
    );
    assert_eq!(web.unit.environment, [("DB".to_owned(), "${db.ip}:3306".to_owned())]);
    assert_eq!(web.depends_on.iter().map(|d| (d.service.as_str(), d.condition)).collect::<Vec<_>>(), [("db", Condition::ServiceStarted)]);
    assert_eq!(
        web.ready.as_ref().map(|ready| (&ready.probe, ready.successes)),
        Some((&Probe::Exec(vec!["/bin/sh".into(), "-c".into(), "curl -f http://localhost".into()]), 1))
    );
    assert_eq!(spec.workloads[0].unit.command, ["ab", "http://${web.host}:${web.port}/", "${host.ip}"]);
    assert!(spec.workloads[0].prepare[0].on_host && spec.needs_host() && spec.needs_engine());
}

#[test]
fn an_engine_without_settings_of_its_own_is_one_that_runs_anyway() {
    let table = [("", None), ("engine: {host: 'unix:///x'}", None), ("engine: {iptables: true}", Some("overlay2 on ext4"))];
    for (engine, label) in table {
        let spec = spec(&format!("{engine}\nworkload: {{image: x}}"));
        assert_eq!(spec.engine.private.as_ref().map(|private| private.label()).as_deref(), label, "{engine}");
        assert!(spec.engine.private.is_none_or(|private| private.backing.bytes == BACKING_BYTES));
    }
}

#[test]
fn parts_that_do_not_fit_are_told_before_anything_runs() {
    let table = [
        ("services: {a: {image: x, depends_on: [b]}, b: {image: x, depends_on: [a]}}", "services wait for each other: a -> b -> a"),
        ("services: {web: {image: x, depends_on: [wbe]}}", "there is no service `wbe`"),
        ("services: {web: {image: x, network_mode: 'service:wbe'}}", "there is no service `wbe`; did you mean `web`?"),
        ("services: {web: {image: x, network_mode: macvlan}}", "`network_mode` must be `bridge`"),
        ("services: {web: {image: x, network_mode: host, ports: ['80:80']}}", "publishes no port"),
        ("services: {web: {image: x, network_mode: none, networks: [n]}}\nnetworks: {n: {}}", "exclude each other"),
        ("services: {web: {image: x, networks: [n]}}", "there is no network `n` / declare it"),
        ("services: {web: {image: x, volumes: ['dta:/x']}}\nvolumes: {data: {}}", "there is no volume `dta` / did you mean `data`?"),
        ("services: {web: {image: x, volumes: ['data:x']}}", "is not an absolute path"),
        ("services: {web: {image: x, volumes: [/x, 'data:/x']}}", "`/x` is mounted twice"),
        ("services: {web: {image: x, ports: ['localhost:80:80']}}", "has no address `localhost`"),
        ("services: {web: {on: host, command: x, ports: ['80:80']}}", "`ports` cannot be honoured with `on: host`"),
        ("services: {web: {image: x, command: 'a ${web.ip}'}}", "uses a name of its own"),
        ("services: {web: {image: x, command: 'a ${db.pi}'}, db: {image: x}}", "`db` has no `pi` / did you mean `ip`?"),
        ("services: {web: {image: x, ready: {http: 'https://x'}}}", "does not begin with `http://`"),
        ("services: {web: {image: x, ready: {tcp: 'x:1'}, healthcheck: {test: x}}}", "keep one of them"),
        ("services: {workload: {image: x}}", "a service cannot be named `workload`"),
        ("engine: {host: 'unix:///x', storage_driver: vfs}", "keep one of them"),
        ("engine: {daemon: {data-root: /x}}", "`daemon.data-root` is set by the tool itself"),
        ("engine: {backing: zfs}", "`backing` must be one of `ext4`, `xfs`, `btrfs`, `tmpfs`"),
    ];
    for (text, expected) in table {
        let found = wrong(&format!("{text}\nworkload: {{image: x}}"));
        assert!(found.iter().any(|problem| problem.contains(expected)), "{text}: {found:?}");
    }
}
