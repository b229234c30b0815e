//! Network modes: what the kernel was built with, and who keeps the rules.

use super::{Area, Finding, Program, Sight, State, tools};

const AREA: Area = Area::Network;

/// Modes, and what they need of the kernel's configuration.
const MODES: &[(&str, &[&str])] = &[
    ("bridge", &["CONFIG_BRIDGE", "CONFIG_VETH"]),
    ("host", &[]),
    ("none", &[]),
    ("macvlan", &["CONFIG_MACVLAN"]),
    ("ipvlan", &["CONFIG_IPVLAN"]),
];

pub(super) fn findings(sight: &Sight) -> Vec<Finding> {
    let modes = MODES.iter().map(|(name, options)| mode(sight.config.as_deref(), name, options));
    let tools = tools::findings(sight, AREA).into_iter().map(|mut finding| {
        if let Some(keeper) = sight.programs.get("iptables").filter(|_| finding.what == "iptables").map(keeper) {
            finding.detail = format!("{}, rules kept by {keeper}", finding.detail);
        }
        finding
    });
    modes.chain(tools).collect()
}

fn mode(config: Option<&str>, name: &str, options: &[&str]) -> Finding {
    if options.is_empty() {
        return AREA.ok(name, "needs nothing");
    }
    let set: Vec<Option<Option<char>>> = options.iter().map(|name| option(config, name)).collect();
    if set.contains(&None) {
        return AREA.unobservable(name, "the kernel's configuration is not readable: probed when used");
    }
    let missing: Vec<&str> = options.iter().zip(&set).filter(|(_, value)| **value == Some(None)).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        return AREA.no(name, format!("the kernel was built without {}", missing.join(", ")), "");
    }
    let state = if set.contains(&Some(Some('m'))) { "as a module" } else { "built in" };
    AREA.finds(name, State::Ok, state, "")
}

/// An option of the kernel's configuration, `y` or `m`; none inside when it is not set, none at all when there is no configuration.
pub(super) fn option(config: Option<&str>, name: &str) -> Option<Option<char>> {
    let value = config?.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    Some(value.and_then(|value| value.chars().next()).filter(|value| matches!(value, 'y' | 'm')))
}

/// Debian's `iptables` is a link to one of two programs.
fn keeper(program: &Program) -> &'static str {
    let name = program.real.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("nft") {
        "nf_tables"
    } else if name.contains("legacy") {
        "the older tables (legacy)"
    } else {
        "an unknown flavour"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str =
        "CONFIG_BRIDGE=y\nCONFIG_VETH=m\nCONFIG_BRIDGE_X=y\nCONFIG_MACVLAN=y\n# CONFIG_IPVLAN is not set\nCONFIG_NAME=\"x\"\n";

    #[test]
    fn options_are_whole_names() {
        let table = [
            ("CONFIG_BRIDGE", Some(Some('y'))),
            ("CONFIG_VETH", Some(Some('m'))),
            ("CONFIG_BRIDG", Some(None)),
            ("CONFIG_IPVLAN", Some(None)),
            ("CONFIG_NAME", Some(None)),
        ];
        for (name, expected) in table {
            assert_eq!(option(Some(CONFIG), name), expected, "{name}");
            assert_eq!(option(None, name), None);
        }
    }

    #[test]
    fn modes_are_what_the_kernel_was_built_with() {
        let states = |config: Option<&str>| {
            let sight = Sight { config: config.map(str::to_owned), ..Sight::default() };
            findings(&sight).into_iter().take(MODES.len()).map(|finding| finding.state).collect::<Vec<_>>()
        };
        let (ok, no, unseen) = (State::Ok, State::No, State::Unobservable);
        assert_eq!(states(Some(CONFIG)), [ok, ok, ok, ok, no]);
        assert_eq!(states(Some("CONFIG_BRIDGE=y\n")), [no, ok, ok, no, no]);
        assert_eq!(states(None), [unseen, ok, ok, unseen, unseen]);
        assert_eq!(mode(Some(CONFIG), MODES[0].0, MODES[0].1).detail, "as a module");
    }

    #[test]
    fn who_keeps_the_rules_is_where_the_link_leads() {
        let table =
            [("xtables-nft-multi", "nf_tables"), ("xtables-legacy-multi", "the older tables (legacy)"), ("iptables", "an unknown flavour")];
        for (real, expected) in table {
            assert_eq!(keeper(&Program { path: "/usr/sbin/iptables".into(), real: format!("/usr/sbin/{real}").into() }), expected);
        }
    }
}
