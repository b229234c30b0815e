//! Identical variants on the real engine: what differs is noise, and must not be called different.

use crate::program::Place;
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Comparison, Subject, Verdict};
use shakedown::model::results::{ResultRow, Results};
use shakedown::record::{Store, load, results};

/// Pairs of identical variants, each a comparison of its own.
const PAIRS: usize = 40;

/// More false alarms than that are less than 2 % likely at a true rate of 5 %.
const MOST: usize = 5;

fn manifest() -> String {
    let pairs: Vec<String> = (1..=PAIRS).map(|pair| pair.to_string()).collect();
    format!(
        "title: The same thing eighty times\nmatrix: {{pair: [{}], member: [a, b]}}\nworkload:\n  pack: [/usr/bin/dd]\n  command: dd \
         if=/dev/zero of=/dev/null bs=1M count=3000\n  network_mode: none\n  timeout: 1m\ndesign: {{blocks: 5, seed: 5, min_window: 50ms}}\n",
        pairs.join(", ")
    )
}

/// The two members of a pair, as an experiment of their own.
fn pair(all: &Results, members: [usize; 2]) -> Results {
    let of = |row: &ResultRow| {
        let place = members.iter().position(|member| row.variant == Some(*member))?;
        Some(ResultRow { variant: Some(place), ..row.clone() })
    };
    Results {
        variants: members.map(|member| all.variants[member].clone()).to_vec(),
        baseline: 0,
        rows: all.rows.iter().filter_map(of).collect(),
        ..all.clone()
    }
}

#[test]
#[ignore = "minutes: `make soak`"]
fn soak_of_identical_variants() {
    let place = Place::with("identical", &manifest());
    let said = place.run(&["run", "identical"]);
    if said.code == 3 {
        assert!(std::env::var("SHAKEDOWN_TEST_ENGINE").as_deref() != Ok("required"), "{}", said.stderr);
        return crate::skipped::skip(said.stderr);
    }
    assert_eq!(said.code, 0, "{}", said.stderr);
    let store = Store::new(&place.path("reports"), "identical");
    let all = results(&store, "identical", load(&store).expect("the record")).expect("results");
    let mut different = Vec::new();
    let mut compared = 0;
    for number in 1..=PAIRS {
        let member = |which: &str| all.variants.iter().position(|v| v.id == format!("member={which},pair={number}")).expect("the variant");
        let comparisons = analyse(&pair(&all, [member("a"), member("b")])).comparisons;
        let is_primary = |c: &&Comparison| c.metric == "wall" && c.subject == Subject::Variant(1);
        let effect = &comparisons.iter().find(is_primary).expect("the comparison").effect;
        compared += 1;
        if matches!(effect.verdict, Verdict::Different | Verdict::DifferentSmall) {
            different.push(format!("pair {number}: {:.3}, p = {:.3}", effect.ratio, effect.p.unwrap_or(f64::NAN)));
        }
    }
    println!("{} of {compared} comparisons of identical variants are called different: {different:?}", different.len());
    assert!(compared == PAIRS && different.len() <= MOST, "{different:?}");
}
