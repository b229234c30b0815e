//! `main_effects.csv` and `interactions.csv`: what the levels of one factor do over all others, and what two factors do to each other.

use super::cells::{Table, text};
use super::columns;
use super::effects::{further, numbers, verdict};
use crate::model::estimate::Analysis;
use crate::model::factorial::{Interaction, MainEffect};
use crate::model::results::Results;

/// One row per level of a factor against the baseline's level, averaged over the other factors; behind it, where it depends on another
/// factor, one per level of that (`at_factor`, `at_level`), on which no verdict stands. None without main effects.
#[must_use]
pub fn main_effects_csv(results: &Results, analysis: &Analysis) -> Option<Vec<u8>> {
    if analysis.main_effects.is_empty() {
        return None;
    }
    let mut table = Table::new(&columns::header(&columns::MAIN_EFFECTS, &[], &[&columns::EFFECT[..], &columns::FURTHER].concat()));
    for main in &analysis.main_effects {
        main_rows(results, main).iter().for_each(|cells| table.row(cells));
    }
    Some(table.bytes())
}

fn main_rows(results: &Results, main: &MainEffect) -> Vec<Vec<String>> {
    let depends: Vec<String> = main.depends_on.iter().map(|factor| factor_name(results, *factor)).collect();
    let head = |at: [String; 2], combinations: String, depends_on: String| {
        let (level, against) = (level_text(results, main.factor, main.level), level_text(results, main.factor, main.against));
        let [at_factor, at_level] = at.map(|name| text(&name));
        let names = [&main.metric, &factor_name(results, main.factor), &level, &against].map(|name| text(name)).to_vec();
        [names, vec![at_factor, at_level, combinations, text(&depends_on)]].concat()
    };
    let words = verdict(&main.effect, main.engine_starts.is_some(), main.too_short);
    let whole = [
        head(Default::default(), main.combinations.to_string(), depends.join(";")),
        numbers(&main.effect, words).to_vec(),
        further(&main.effect).to_vec(),
    ];
    let simple = main.simple.iter().map(|simple| {
        let at = [factor_name(results, simple.factor), level_text(results, simple.factor, simple.level)];
        [head(at, String::new(), String::new()), numbers(&simple.effect, String::new()).to_vec(), further(&simple.effect).to_vec()].concat()
    });
    [whole.concat()].into_iter().chain(simple).collect()
}

/// One row per pair of levels of two factors: the ratio of ratios. None without interactions.
#[must_use]
pub fn interactions_csv(results: &Results, analysis: &Analysis) -> Option<Vec<u8>> {
    if analysis.interactions.is_empty() {
        return None;
    }
    let mut table = Table::new(&columns::header(&columns::INTERACTIONS, &[], &[&columns::EFFECT[..], &columns::FURTHER].concat()));
    analysis.interactions.iter().for_each(|interaction| table.row(&interaction_row(results, interaction)));
    Some(table.bytes())
}

fn interaction_row(results: &Results, interaction: &Interaction) -> Vec<String> {
    let side = |factor: usize, level: usize, against: usize| {
        [factor_name(results, factor), level_text(results, factor, level), level_text(results, factor, against)]
            .map(|name| text(&name))
            .to_vec()
    };
    let words = verdict(&interaction.effect, interaction.engine_starts.is_some(), false);
    [
        vec![text(&interaction.metric)],
        side(interaction.factors.0, interaction.levels.0, interaction.against.0),
        side(interaction.factors.1, interaction.levels.1, interaction.against.1),
        vec![interaction.combinations.to_string()],
        numbers(&interaction.effect, words).to_vec(),
        further(&interaction.effect).to_vec(),
    ]
    .concat()
}

fn factor_name(results: &Results, factor: usize) -> String {
    results.factors.get(factor).map_or_else(String::new, |factor| factor.name.to_string())
}

fn level_text(results: &Results, factor: usize, level: usize) -> String {
    results.factors.get(factor).and_then(|factor| factor.levels.get(level)).map_or_else(String::new, ToString::to_string)
}
