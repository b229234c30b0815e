//! What a record must not hold: values of variables, arguments, vars and factors whose names look like a secret's, wherever else those
//! values stand in what would run.

use crate::model::spec::{ImageSpec, TrialSpec, UnitSpec, WorkloadSpec};
use crate::model::stack::{Probe, ReadySpec, ServiceSpec};
use serde_json::{Map, Value as Json};

/// What stands in a secret's place.
const GONE: &str = "***";

/// A shorter value is replaced only where it is the whole text: within other text it is likely to be something else.
const TELLING: usize = 4;

/// Whether a name looks like a secret's.
fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["PASSWORD", "PASSWD", "TOKEN", "SECRET", "KEY"].iter().any(|word| upper.contains(word))
}

/// The spec as it may be recorded. `names` are the factors and vars that it was made with.
#[must_use]
pub fn redacted(mut spec: TrialSpec, names: &Map<String, Json>) -> TrialSpec {
    let mut secrets = Secrets::default();
    names.iter().for_each(|(name, value)| secrets.learn(value, is_secret(name)));
    for workload in &mut spec.workloads {
        secrets.unit(&mut workload.unit);
        workload.warmup.iter_mut().for_each(|warmup| secrets.arguments(&mut warmup.command));
        workload.prepare.iter_mut().for_each(|step| secrets.arguments(&mut step.command));
    }
    for service in &mut spec.services {
        secrets.unit(&mut service.unit);
        service.prepare.iter_mut().for_each(|step| secrets.arguments(&mut step.command));
        if let Some(ReadySpec { probe: Probe::Exec(command), .. }) = &mut service.ready {
            secrets.arguments(command);
        }
    }
    let daemon = spec.engine.private.iter_mut().flat_map(|private| &mut private.daemon);
    let mut daemon: Vec<(&String, &mut Json)> = daemon.collect();
    daemon.iter().for_each(|(key, value)| secrets.learn(value, is_secret(key)));
    if secrets.sorted() {
        daemon.iter_mut().for_each(|(key, value)| secrets.var(value, is_secret(key)));
        spec.engine.host.iter_mut().for_each(|host| secrets.mask(host));
        spec.workloads.iter_mut().flat_map(WorkloadSpec::texts_mut).for_each(|text| secrets.mask(text));
        spec.services.iter_mut().flat_map(ServiceSpec::texts_mut).for_each(|text| secrets.mask(text));
    }
    spec
}

/// The vars as they may be recorded. Numbers stay, because formulas compute with them and `keys: 1000` is no secret.
#[must_use]
pub fn redacted_vars(mut vars: Map<String, Json>) -> Map<String, Json> {
    let mut secrets = Secrets::default();
    vars.iter().for_each(|(name, value)| secrets.learn(value, is_secret(name)));
    secrets.sorted();
    vars.iter_mut().for_each(|(name, value)| secrets.var(value, is_secret(name)));
    vars
}

/// The values that are known to be secret.
#[derive(Default)]
struct Secrets(Vec<String>);

impl Secrets {
    /// Keeps a value. What stands between quotes of a shell is the value; a name that a shell fills in is none.
    fn add(&mut self, value: &str) {
        let bare = value.trim_matches(['"', '\'']);
        let plain = ["", GONE, "true", "false"].contains(&bare) || bare.starts_with('$');
        if !plain && !self.0.iter().any(|known| known == bare) {
            self.0.push(bare.to_owned());
        }
    }

    /// The longest first, so that one that holds another goes as a whole; false when there is none.
    fn sorted(&mut self) -> bool {
        self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        !self.0.is_empty()
    }

    fn learn(&mut self, value: &Json, secret: bool) {
        match value {
            Json::String(text) if secret => self.add(text),
            Json::Array(items) => items.iter().for_each(|item| self.learn(item, secret)),
            Json::Object(entries) => entries.iter().for_each(|(name, value)| self.learn(value, secret || is_secret(name))),
            _ => {}
        }
    }

    /// Replaces the values in a text.
    fn mask(&self, text: &mut String) {
        for secret in &self.0 {
            if text == secret {
                GONE.clone_into(text);
            } else if secret.chars().count() >= TELLING && text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), GONE);
            }
        }
    }

    fn var(&self, value: &mut Json, secret: bool) {
        match value {
            Json::String(text) if secret => GONE.clone_into(text),
            Json::String(text) => self.mask(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.var(item, secret)),
            Json::Object(entries) => entries.iter_mut().for_each(|(name, value)| self.var(value, secret || is_secret(name))),
            _ => {}
        }
    }

    /// What a unit is told in the open: variables, arguments, arguments of its build.
    fn unit(&mut self, unit: &mut UnitSpec) {
        self.pairs(&mut unit.environment);
        self.arguments(&mut unit.command);
        unit.entrypoint.iter_mut().for_each(|entrypoint| self.arguments(entrypoint));
        if let Some(ImageSpec::Build { args, .. }) = &mut unit.image {
            self.pairs(args);
        }
    }

    fn pairs(&mut self, pairs: &mut [(String, String)]) {
        for (_, value) in pairs.iter_mut().filter(|(name, _)| is_secret(name)) {
            self.add(value);
            GONE.clone_into(value);
        }
    }

    /// `--token x`, `-token x`, `--token=x`, `TOKEN=x`, `X-Token: x`, and the same inside the text that a shell is given.
    fn arguments(&mut self, arguments: &mut [String]) {
        let mut next_is_secret = false;
        for argument in arguments {
            if std::mem::take(&mut next_is_secret) && !argument.starts_with('-') {
                self.add(argument);
                GONE.clone_into(argument);
            } else if !argument.contains(char::is_whitespace) {
                next_is_secret = is_announcement(argument);
                *argument = self.word(argument);
            } else if named(argument).is_some() {
                *argument = self.word(argument);
            } else {
                *argument = self.shell_text(argument);
            }
        }
    }

    /// One word of a command line, or the text between quotes.
    fn word(&mut self, word: &str) -> String {
        let Some((kept, value)) = named(word) else { return word.to_owned() };
        self.add(value);
        let open = kept.chars().next().filter(|c| matches!(c, '"' | '\''));
        let close = open.filter(|quote| value.ends_with(*quote)).map(String::from).unwrap_or_default();
        format!("{kept}{GONE}{close}")
    }

    /// Redacts word by word; blanks within quotes do not end a word.
    fn shell_text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut next_is_secret = false;
        let mut current = String::new();
        let mut quote = None;
        for c in text.chars() {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                _ => {}
            }
            if quote.is_some() || !c.is_whitespace() {
                current.push(c);
                continue;
            }
            out.push_str(&self.shell_word(&std::mem::take(&mut current), &mut next_is_secret));
            out.push(c);
        }
        out.push_str(&self.shell_word(&current, &mut next_is_secret));
        out
    }

    fn shell_word(&mut self, text: &str, next_is_secret: &mut bool) -> String {
        if text.is_empty() {
            return String::new();
        }
        let secret = std::mem::take(next_is_secret) && !text.starts_with('-');
        *next_is_secret = is_announcement(text);
        if !secret {
            return self.word(text);
        }
        self.add(text);
        GONE.to_owned()
    }
}

/// Whether the word after this one is a secret: `--token`, `-token`, `Token:`.
fn is_announcement(word: &str) -> bool {
    let announces = word.starts_with('-') && !word.contains('=') || word.ends_with(':') && is_name(word.trim_end_matches(':'));
    announces && is_secret(word)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// `TOKEN=x` or `X-Token: x`, parted in front of the value; none unless the name looks like a secret's. A quote in front stays.
fn named(word: &str) -> Option<(&str, &str)> {
    let (name, value) = match (word.find('='), word.find(": ")) {
        (Some(at), None) => word.split_at(at + 1),
        (Some(equals), Some(colon)) if equals < colon => word.split_at(equals + 1),
        (_, Some(at)) => word.split_at(at + 2),
        (None, None) => return None,
    };
    let bare = name.trim_start_matches(['"', '\'']).trim_end_matches([' ', ':', '=']);
    let one_word = name.ends_with('=') && !word.contains(char::is_whitespace);
    ((is_name(bare) || one_word) && is_secret(bare)).then_some((name, value))
}
