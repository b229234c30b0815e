//! One container or host process.

use super::{Context, Problems, mounts};
use crate::model::cpus::CpuList;
use crate::model::quantity;
use crate::model::spec::{ContainerSpec, FileSpec, ImageSpec, LimitsSpec, Place, UnitSpec};
use crate::model::tree::{Node, Tree};
use crate::plan::bind;
use std::path::PathBuf;

/// Keys that only a container can honour.
const CONTAINER_ONLY: &[&str] = &[
    "network_mode",
    "networks",
    "ports",
    "init",
    "privileged",
    "read_only",
    "hostname",
    "cap_add",
    "cap_drop",
    "security_opt",
    "extra_hosts",
    "sysctls",
    "ulimits",
    "tmpfs",
    "shm_size",
    "entrypoint",
];

/// Sources of files that a host process does not see; those of `pack` are the host's own.
const IMAGES: &[&str] = &["image", "build", "archive"];

pub(super) fn unit(tree: &Tree, context: &Context<'_>, problems: &mut Problems) -> UnitSpec {
    let place = match problems.some_text(tree, "on").as_deref() {
        Some("host") => Place::Host,
        None | Some("container") => Place::Container,
        Some(other) => {
            problems.error(tree.get("on").unwrap_or(tree), format!("`on` is `container` or `host`, not `{other}`"));
            Place::Container
        }
    };
    let image = image(tree, place, context, problems);
    let command = problems.command(tree, "command").unwrap_or_default();
    if context.whole && command.is_empty() && (place == Place::Host || matches!(image, Some(ImageSpec::Pack(_)))) {
        problems.error(tree, "a `command` is needed here: there is no image that brings one");
    }
    if place == Place::Host {
        for key in CONTAINER_ONLY {
            if let Some(value) = tree.get(key).filter(|v| !v.is_null()) {
                problems.error(value, format!("`{key}` cannot be honoured with `on: host`: a host process has no container"));
            }
        }
        for key in IMAGES {
            if let Some(value) = tree.get(key).filter(|v| !v.is_null()) {
                problems.error(
                    value,
                    format!(
                        "`{key}` cannot be honoured with `on: host`: a host process runs the host's own files; give `pack`, or `{key}: null` \
                         where it runs on the host"
                    ),
                );
            }
        }
    }
    let unit = UnitSpec {
        place,
        image,
        command,
        entrypoint: problems.command(tree, "entrypoint"),
        environment: problems.pairs(tree, "environment"),
        working_dir: problems.some_text(tree, "working_dir"),
        user: problems.some_text(tree, "user"),
        limits: limits(tree, problems),
        files: files(tree, context, problems),
        volumes: mounts::mounts(tree, problems),
        container: container(tree, problems),
    };
    mounts::overlaps(&unit, tree, problems);
    unit
}

fn image(tree: &Tree, place: Place, context: &Context<'_>, problems: &mut Problems) -> Option<ImageSpec> {
    let mut sources = Vec::new();
    if let Some(reference) = problems.some_text(tree, "image") {
        sources.push(ImageSpec::Reference(reference));
    }
    if let Some(path) = problems.some_text(tree, "archive") {
        sources.push(ImageSpec::Archive(PathBuf::from(path)));
    }
    let pack = problems.list(tree, "pack");
    if !pack.is_empty() {
        sources.push(ImageSpec::Pack(pack.into_iter().map(PathBuf::from).collect()));
    }
    match tree.get("build").filter(|build| !build.is_null()) {
        None => {}
        Some(short @ Tree { node: Node::Scalar(_), .. }) => {
            sources.push(ImageSpec::Build { context: problems.text(short).into(), dockerfile: "Dockerfile".into(), args: Vec::new() });
        }
        Some(long) => {
            let context = problems.some_text(long, "context").unwrap_or_default().into();
            let dockerfile = problems.some_text(long, "dockerfile").unwrap_or_else(|| "Dockerfile".into());
            sources.push(ImageSpec::Build { context, dockerfile, args: problems.pairs(long, "args") });
        }
    }
    match (sources.len(), place) {
        (0, Place::Container) if context.whole => problems.error(tree, "a container needs an `image`, `build`, `archive` or `pack`"),
        (2.., _) => problems.error(tree, "only one of `image`, `build`, `archive` and `pack` can be the source"),
        _ => {}
    }
    sources.into_iter().next()
}

fn limits(tree: &Tree, problems: &mut Problems) -> LimitsSpec {
    let cpus = problems
        .read(tree, "cpus", |text| quantity::number(text).filter(|n| *n > 0.0).ok_or_else(|| format!("`{text}` is not a number above 0")));
    let limits = LimitsSpec {
        cpus,
        cpu_period_us: problems.integer(tree, "cpu_period"),
        cpu_quota_us: problems.integer(tree, "cpu_quota"),
        cpu_shares: problems.integer(tree, "cpu_shares"),
        cpuset: problems.read(tree, "cpuset", |text| {
            CpuList::parse(text).map(|list| list.to_string()).ok_or_else(|| format!("`{text}` is not a list of CPUs such as `0,2-3`"))
        }),
        memory_bytes: problems.size(tree, "mem_limit"),
        pids: problems.integer(tree, "pids_limit"),
    };
    if limits.cpus.is_some() && (limits.cpu_quota_us.is_some() || limits.cpu_period_us.is_some()) {
        problems.error(
            tree.get("cpu_quota").or(tree.get("cpu_period")).unwrap_or(tree),
            "`cpus` and `cpu_quota`/`cpu_period` say the same thing: keep one",
        );
    }
    if limits.cpu_period_us.is_some() && limits.cpu_quota_us.is_none() {
        problems.error(tree.get("cpu_period").unwrap_or(tree), "`cpu_period` alone limits nothing: give `cpu_quota` too");
    }
    limits
}

fn files(tree: &Tree, context: &Context<'_>, problems: &mut Problems) -> Vec<FileSpec> {
    let mut files = Vec::new();
    let Some(declared) = tree.get("files") else { return files };
    let single = std::slice::from_ref(declared);
    let items = if matches!(declared.node, Node::Seq(_)) { declared.items() } else { single };
    for item in items {
        let target = PathBuf::from(problems.some_text(item, "target").unwrap_or_default());
        let escapes = target.components().any(|part| matches!(part, std::path::Component::ParentDir));
        if !target.is_absolute() || escapes {
            problems.error(item.get("target").unwrap_or(item), "`target` is an absolute path without `..`");
        }
        let mode = problems.read(item, "mode", |text| {
            u32::from_str_radix(text.trim_start_matches("0o"), 8)
                .ok()
                .filter(|m| *m <= 0o7777)
                .ok_or_else(|| format!("`{text}` is not a mode such as \"0644\""))
        });
        let source = problems.some_text(item, "source").map(PathBuf::from);
        if source.is_some() && mode.is_some() {
            problems.error(item.get("mode").unwrap_or(item), "`mode`: what is copied from `source` keeps the modes that it has there");
        }
        let content = match problems.some_text(item, "template") {
            None => problems.some_text(item, "content").unwrap_or_default(),
            Some(name) => bind::render_file(&name, context.templates, item.span, context.scope).unwrap_or_else(|problem| {
                problems.0.push(*problem);
                String::new()
            }),
        };
        files.push(FileSpec { target, content, source, mode: mode.unwrap_or(0o644) });
    }
    files
}

fn container(tree: &Tree, problems: &mut Problems) -> ContainerSpec {
    ContainerSpec {
        network_mode: problems.some_text(tree, "network_mode"),
        networks: problems.list(tree, "networks"),
        ports: mounts::ports(tree, problems),
        init: problems.bool(tree, "init"),
        privileged: problems.bool(tree, "privileged"),
        read_only: problems.bool(tree, "read_only"),
        hostname: problems.some_text(tree, "hostname"),
        cap_add: problems.list(tree, "cap_add"),
        cap_drop: problems.list(tree, "cap_drop"),
        security_opt: problems.list(tree, "security_opt"),
        extra_hosts: problems.list(tree, "extra_hosts"),
        sysctls: problems.pairs(tree, "sysctls"),
        ulimits: ulimits(tree, problems),
        tmpfs: problems.list(tree, "tmpfs").iter().map(|text| mounts::tmpfs(text)).collect(),
        shm_bytes: problems.size(tree, "shm_size"),
    }
}

fn ulimits(tree: &Tree, problems: &mut Problems) -> Vec<(String, i64, i64)> {
    let mut found = Vec::new();
    for (key, value) in tree.get("ulimits").map(Tree::entries).unwrap_or_default() {
        let mut number = |tree: &Tree| {
            let text = problems.text(tree);
            text.parse::<i64>().unwrap_or_else(|_| {
                problems.error(tree, format!("`{text}` is not a whole number"));
                0
            })
        };
        let (soft, hard) = match value.node {
            Node::Map(_) => (value.get("soft").map(&mut number).unwrap_or(0), value.get("hard").map(&mut number).unwrap_or(0)),
            _ => {
                let both = number(value);
                (both, both)
            }
        };
        found.push((key.name.to_string(), soft, hard));
    }
    found.sort();
    found
}
