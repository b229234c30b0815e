//! Services, networks, volumes and engines: what a manifest says becomes specs, and what its parts say of each other must fit.

use super::{saved_plan, wrong};
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem, OWN_ADDRESS, OWN_PREFIX};
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
fn what_only_looks_like_it_does_not_fit_is_let_be() {
    let table = [
        "services: {a: {image: x, ports: ['8080:80', '8080:80/udp', '127.0.0.1:8081:80', '[::1]:8081:80']}}",
        "services: {a: {image: x, ports: ['80']}, b: {image: x, ports: ['80']}}",
        "services: {a: {image: x, networks: [n, m], ports: ['80']}}\nnetworks: {n: {internal: true}, m: {}}",
        "engine: {iptables: false}\nservices: {a: {image: x, ports: ['80']}}",
        "engine: {iptables: false, userland_proxy: false}\nservices: {a: {image: x}}",
        "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {driver: macvlan, internal: true}}",
        "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {driver: macvlan, driver_opts: {parent: eth0}}}",
        "services: {a: {image: x, volumes: ['d:/x', './b:/bb'], tmpfs: [/y], files: [{target: /x/f, content: z}, {target: /b, content: z}]}}\nvolumes: {d: {}}",
        "services: {a: {on: host, command: x, volumes: ['d:/x']}}\nvolumes: {d: {from: ./seed}}",
        "services: {i: {image: x}, a: {image: x, command: 'x {{ i.name }}', depends_on: {i: {condition: service_completed_successfully}}}}",
        "services: {a: {image: x, ready: {log: '^ready$'}, files: [{source: x, target: /x}]}}",
    ];
    for text in table {
        saved_plan(&format!("{text}\nworkload: {{image: x}}"));
    }
}

#[test]
fn a_network_on_a_device_stands_on_that_of_the_private_engine() {
    let network = |driver: &str, more: &str| {
        let text =
            format!("engine: {{iptables: true}}\nnetworks: {{n: {{driver: {driver}{more}}}}}\nworkload: {{image: x, networks: [n]}}");
        let network = spec(&text).networks.remove(0);
        (network.driver_opts.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(), network.subnet)
    };
    let given =
        |opts: &[&str], subnet: Option<&str>| (opts.iter().map(|opt| (*opt).to_owned()).collect::<Vec<_>>(), subnet.map(str::to_owned));
    let own = format!("{}/{OWN_PREFIX}", std::net::Ipv4Addr::from(OWN_ADDRESS.to_bits() & (u32::MAX << (32 - OWN_PREFIX))));
    assert_eq!(network("bridge", ""), given(&[], None));
    assert_eq!(network("macvlan", ""), given(&["parent=sd1"], Some(&own)));
    assert_eq!(network("ipvlan", ", driver_opts: {ipvlan_mode: l3}"), given(&["ipvlan_mode=l3", "parent=sd1"], Some(&own)));
    assert_eq!(network("ipvlan", ", subnet: 10.9.0.0/24"), given(&["parent=sd1"], Some("10.9.0.0/24")));
    assert_eq!(network("macvlan", ", driver_opts: {parent: sd1}"), given(&["parent=sd1"], None));
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
        ("services: {web: {image: x, ready: {log: up, successes: 2}}}", "`successes` has no meaning with `log`"),
        ("design: {blocks: 2, engine_starts: 3}", "an engine is started once per block at most"),
        ("engine: {binary: ../dockerd}", "`../dockerd` is not an absolute path"),
        ("engine: {daemon: {log-driver: local}}", "`daemon.log-driver` cannot be given"),
        ("services: {workload: {image: x}}", "a service cannot be named `workload`"),
        ("services: {web: {image: x, ready: {log: 'a('}}}", "`log`: `a(` is no regular expression"),
        ("services: {web: {image: x, ready: {log: 'a*'}}}", "also matches the empty text"),
        ("services: {web: {image: x, ready: {log: 'at {{ web.ip }}'}}}", "what is known only while the trial runs"),
        ("services: {web: {image: x, files: [{source: x, target: /x, mode: '0600'}]}}", "`mode`: what is copied from `source`"),
        ("services: {web: {image: x, volumes: ['d:/x']}}\nvolumes: {d: {tmpfs: 1m, keep: true}}", "`tmpfs` and `keep` exclude"),
        (
            "services: {web: {image: x, volumes: ['d:/x']}}\nvolumes: {d: {from: ./seed}}",
            "cannot fill the volume `d`, which the container of `web` mounts / copy it in before the start: `files: [{source: ./seed,",
        ),
        ("services: {web: {image: x, tmpfs: [/x], files: [{target: /x/y, content: z}]}}", "`/x/y` would be hidden: at `/x` is a tmpfs"),
        (
            "services: {web: {image: x, volumes: [{type: tmpfs, target: /x}], files: [{target: /x/y, content: z}]}}",
            "`/x/y` would be hidden: at `/x` is a tmpfs",
        ),
        ("services: {web: {image: x, volumes: ['./a:/x'], files: [{target: /x, content: z}]}}", "at `/x` is the host's own folder"),
        ("services: {web: {image: x, volumes: ['./a:/x'], tmpfs: ['/x:size=1m']}}", "`tmpfs`: `/x` is mounted twice"),
        ("services: {web: {image: x, tmpfs: [/x, '/x:size=1m']}}", "`tmpfs`: `/x` is mounted twice"),
        ("services: {web: {image: x, networks: [n], ports: ['80']}}\nnetworks: {n: {internal: true}}", "nothing is published on `n`"),
        (
            "services: {web: {image: x, networks: [n, m], ports: ['80']}}\nnetworks: {n: {internal: true}, m: {driver: ipvlan, driver_opts: {parent: e}}}",
            "nothing is published on `n` and `m`",
        ),
        ("services: {web: {image: x, ports: ['80', '80']}}", "`ports`: the container's 80/tcp is published twice"),
        ("services: {web: {image: x, ports: ['8080:80', '127.0.0.1:8080:81']}}", "`ports`: 8080/tcp at 127.0.0.1 is published twice"),
        ("services: {a: {image: x, ports: ['8080:80']}, b: {image: x, ports: ['8080:80']}}", "8080/tcp is published by `a` and by `b`"),
        ("services: {a: {image: x, ports: ['0.0.0.0:53:53/udp']}, b: {image: x, ports: ['127.0.0.1:53:53/udp']}}", "by `a` and by `b`"),
        ("engine: {iptables: false, userland_proxy: false}\nservices: {a: {image: x, ports: ['80']}}", "nothing carries packets"),
        (
            "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {driver: macvlan}}",
            "`n` of the driver macvlan needs a device of the host / name it",
        ),
        (
            "engine: {iptables: true}\nservices: {a: {image: x, networks: [n, m]}}\nnetworks: {n: {driver: macvlan}, m: {driver: ipvlan}}",
            "the networks `n` and `m` cannot both stand",
        ),
        (
            "services: {i: {image: x}, a: {image: x, command: 'x {{ i.ip }}', depends_on: {i: {condition: service_completed_successfully}}}}",
            "others wait until `i` has ended: it has no `ip` any more when `a` asks for it",
        ),
        (
            "services: {i: {image: x, prepare: [y]}, a: {image: x, depends_on: {i: {condition: service_completed_successfully}}}}",
            "nothing can be done in it by then, drop `prepare`",
        ),
        (
            "services: {i: {image: x}, a: {image: x, network_mode: 'service:i', depends_on: {i: {condition: service_completed_successfully}}}}",
            "its network ends with it",
        ),
        ("engine: {host: 'unix:///x', storage_driver: vfs}", "keep one of them"),
        ("engine: {daemon: {data-root: /x}}", "`daemon.data-root` cannot be given: use `backing`"),
        ("engine: {backing: zfs}", "`backing` must be one of `ext4`, `xfs`, `btrfs`, `tmpfs`"),
    ];
    for (text, expected) in table {
        let found = wrong(&format!("{text}\nworkload: {{image: x}}"));
        assert!(found.iter().any(|problem| problem.contains(expected)), "{text}: {found:?}");
    }
}
