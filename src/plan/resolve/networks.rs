//! Networks that stand on a device of the host: which one, and that each has one of its own.

use super::Problems;
use crate::model::diagnostic::Diagnostic;
use crate::model::private::{OWN_SUBNET, PARENT_DEVICE};
use crate::model::spec::TrialSpec;
use crate::model::stack::NetworkSpec;
use crate::model::tree::Tree;

/// Checks that networks of macvlan and ipvlan have a parent, and gives them that of a private engine where none is named.
pub(super) fn complete(spec: &mut TrialSpec, setup: &Tree, problems: &mut Problems) {
    let private = spec.engine.private.is_some();
    let span = |name: &str| setup.get("networks").and_then(|all| all.get(name)).map_or(setup.span, |tree| tree.span);
    let mut first: Option<String> = None;
    // An internal one needs no device: the engine makes one that leads nowhere.
    let bare = |network: &&mut NetworkSpec| network.driver != "bridge" && !network.internal && parent(network).is_none();
    for network in spec.networks.iter_mut().filter(bare) {
        if !private {
            let message = format!("the network `{}` of the driver {} needs a device of the host", network.name, network.driver);
            let problem = Diagnostic::error(span(&network.name), message);
            problems.0.push(problem.help("name it: `driver_opts: {parent: eth0}`; a private engine has one of its own"));
        } else if let Some(other) = &first {
            let message = format!("the networks `{other}` and `{}` cannot both stand on the one device of a private engine", network.name);
            problems.0.push(Diagnostic::error(span(&network.name), message));
        } else {
            first = Some(network.name.clone());
            network.driver_opts.push(("parent".to_owned(), PARENT_DEVICE.to_owned()));
            network.driver_opts.sort();
            network.subnet.get_or_insert_with(|| OWN_SUBNET.to_owned());
        }
    }
}

fn parent(network: &NetworkSpec) -> Option<&str> {
    network.driver_opts.iter().find(|(name, _)| name == "parent").map(|(_, value)| value.as_str())
}
