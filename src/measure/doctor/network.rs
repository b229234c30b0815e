//! Network modes: what the kernel was built with or what became of a try, and who keeps the rules.

use super::{Area, Finding, Program, Sight, storage, tools};
use crate::model::possible::{Answer, Survey};

const AREA: Area = Area::Network;

/// An option of the kernel's configuration, and the module that it makes when it is `m`.
type Need = (&'static str, &'static str);

/// Modes, and what they need of the kernel.
const MODES: &[(&str, &[Need])] = &[
    ("bridge", &[("CONFIG_BRIDGE", "bridge"), ("CONFIG_VETH", "veth")]),
    ("host", &[]),
    ("none", &[]),
    ("macvlan", &[("CONFIG_MACVLAN", "macvlan")]),
    ("ipvlan", &[("CONFIG_IPVLAN", "ipvlan")]),
];

/// The network modes that are looked at.
pub fn modes() -> impl Iterator<Item = &'static str> {
    MODES.iter().map(|(name, _)| *name)
}

pub(super) fn findings(sight: &Sight, survey: &Survey) -> Vec<Finding> {
    let modes =
        MODES.iter().map(|(name, needs)| survey.networks.get(name).map_or_else(|| mode(sight, name, needs), |answer| tried(name, answer)));
    let tools = tools::findings(sight, AREA).into_iter().map(|mut finding| {
        if let Some(keeper) = sight.programs.get("iptables").filter(|_| finding.what == "iptables").map(keeper) {
            finding.detail = format!("{}, rules kept by {keeper}", finding.detail);
        }
        finding
    });
    modes.chain(tools).collect()
}

fn mode(sight: &Sight, name: &str, needs: &[Need]) -> Finding {
    if needs.is_empty() {
        return AREA.ok(name, "needs nothing");
    }
    let mut as_module = false;
    for (name_of_option, module) in needs {
        match option(sight.config.as_deref(), name_of_option) {
            None => return AREA.unobservable(name, "the kernel's configuration is not readable: `shakedown doctor --probe` tries it"),
            Some(None) => return AREA.no(name, format!("the kernel was built without {name_of_option}"), ""),
            // Small kernels of clouds leave rare modules to a package of their own.
            Some(Some('m')) if sight.has_module(module) == Some(false) => {
                let next = "install the kernel's other modules (Ubuntu: linux-modules-extra)";
                return AREA.no(name, format!("the module {module} is not installed"), next);
            }
            Some(Some(value)) => as_module |= value == 'm',
        }
    }
    AREA.ok(name, if as_module { "as a module" } else { "built in" })
}

fn tried(name: &str, answer: &Answer) -> Finding {
    AREA.finds(name, storage::state(answer), storage::reason(answer).unwrap_or("a container ran"), "")
}

/// An option of the kernel's configuration, `y` or `m`; none inside when it is not set, none at all when there is no configuration.
fn option(config: Option<&str>, name: &str) -> Option<Option<char>> {
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
    use crate::measure::doctor::State;

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
        let seen = |config: Option<&str>, modules: Option<&str>| Sight {
            config: config.map(str::to_owned),
            modules: modules.map(str::to_owned),
            ..Sight::default()
        };
        let states = |config: Option<&str>| {
            let sight = seen(config, None);
            findings(&sight, &Survey::default()).into_iter().take(MODES.len()).map(|finding| finding.state).collect::<Vec<_>>()
        };
        let (ok, no, unseen) = (State::Ok, State::No, State::Unobservable);
        assert_eq!(states(Some(CONFIG)), [ok, ok, ok, ok, no]);
        assert_eq!(states(Some("CONFIG_BRIDGE=y\n")), [no, ok, ok, no, no]);
        assert_eq!(states(None), [unseen, ok, ok, unseen, unseen]);
        let networks = [("macvlan", Answer::Ran), ("bridge", Answer::No("refused".into()))].into();
        let tried = findings(&seen(Some(CONFIG), None), &Survey { networks, ..Survey::default() });
        let told = |at: usize| (tried[at].what.as_str(), tried[at].state, tried[at].detail.as_str());
        assert_eq!((told(0), told(3)), (("bridge", no, "refused"), ("macvlan", ok, "a container ran")), "a try tells more");
        assert_eq!(modes().collect::<Vec<_>>(), tried[..MODES.len()].iter().map(|f| f.what.as_str()).collect::<Vec<_>>());
        let bridge = |modules| mode(&seen(Some(CONFIG), modules), MODES[0].0, MODES[0].1);
        assert_eq!(bridge(None).detail, "as a module");
        assert_eq!(bridge(Some("kernel/drivers/net/veth.ko.zst:\n")).detail, "as a module");
        let gone = bridge(Some("kernel/net/x.ko: kernel/drivers/net/veth.ko\n"));
        assert_eq!((gone.state, gone.detail.as_str()), (State::No, "the module veth is not installed"));
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
