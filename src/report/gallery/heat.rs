//! The ratios of the primary metric over two factors, further ones as panels.

use super::forest::{judged_by, replicates};
use super::{Material, metric_measure};
use crate::model::estimate::Verdict;
use crate::report::charts::{Axis, Facet, Heading, HeatMap, Tile};

/// A heat map of several pages.
pub(super) struct Heat {
    /// The two factors, in the order of the manifest.
    pub(super) factors: [String; 2],
    pub(super) pages: Vec<HeatMap>,
    /// What they show, in words.
    pub(super) alt: String,
}

impl Material<'_> {
    /// The ratios over the two factors with most levels, where some combination of the others has at least two levels of both, fully
    /// crossed; none otherwise. A factor that is asked for is one of the two: the first of those across, where there is room.
    pub(super) fn heat(&self, asked: [Option<usize>; 2]) -> Option<Heat> {
        let (first, second) = self.widest_factors(asked)?;
        let count = |factor: usize| self.results.factors[factor].levels.len();
        let mut ways = [(first, second), (second, first)];
        // The factor across is the one whose levels need less room beside each other.
        ways.sort_by_key(|(across, down)| (asked[0] != Some(*across) && asked[1] != Some(*down), self.lettering(*across)));
        let (across, down) = ways.into_iter().find(|(across, down)| HeatMap::holds(count(*across), count(*down)))?;
        let facets = self.facets(across, down);
        if !facets.iter().any(|facet| is_crossed(&facet.tiles)) {
            return None;
        }
        let tiles = || facets.iter().flat_map(|facet| &facet.tiles);
        let size = |tile: &Tile| if tile.ratio > 0.0 { tile.ratio.ln().abs() } else { 0.0 };
        let most = tiles().map(size).filter(|size| size.is_finite()).fold(0.0, f64::max).exp();
        let page = |facets: &[Facet]| HeatMap {
            heading: Heading { title: self.title.to_owned(), subtitle: self.heat_words() },
            measure: metric_measure(self.metric(self.main)),
            against: self.label(self.results.baseline),
            most,
            across: self.axis(across),
            down: self.axis(down),
            facets: facets.to_vec(),
        };
        let [one, other] = [first.min(second), first.max(second)].map(|factor| self.results.factors[factor].name.to_string());
        let alt = self.told(&format!("heat map over {one} and {other} of"), &self.question(), self.plain_contrasts().iter());
        let room = HeatMap::panels_per_sheet(count(down));
        Some(Heat { factors: [one, other], pages: facets.chunks(room).map(page).collect(), alt })
    }

    fn heat_words(&self) -> String {
        let n = replicates(self.plain_contrasts().iter());
        let judged = judged_by(self.question().correction);
        format!("{}, {judged} · {n} · {}", self.compared(&self.question()), self.observed.source)
    }

    /// The two factors that are asked for, and of those that vary the ones with most levels.
    fn widest_factors(&self, asked: [Option<usize>; 2]) -> Option<(usize, usize)> {
        let count = |factor: &usize| self.results.factors[*factor].levels.len();
        let mut varied: Vec<usize> = (0..self.results.factors.len()).filter(|factor| count(factor) > 1).collect();
        varied.sort_by_key(|factor| (!asked.contains(&Some(*factor)), std::cmp::Reverse(count(factor))));
        Some((*varied.first()?, *varied.get(1)?))
    }

    /// Room that a factor's levels need beside each other, in characters.
    fn lettering(&self, factor: usize) -> usize {
        let levels = &self.results.factors[factor].levels;
        levels.len() * levels.iter().map(|level| level.chars().count()).max().unwrap_or(0)
    }

    fn axis(&self, factor: usize) -> Axis {
        let found = &self.results.factors[factor];
        Axis { factor: found.name.to_string(), levels: found.levels.iter().map(ToString::to_string).collect() }
    }

    /// A panel per combination of the other factors, in the order of the product.
    fn facets(&self, across: usize, down: usize) -> Vec<Facet> {
        let mut found: Vec<(Vec<u32>, Facet)> = Vec::new();
        for (variant, saved) in self.results.variants.iter().enumerate().filter(|(variant, _)| !self.is_copy(*variant)) {
            let place = |factor: usize| saved.levels.get(factor).map(|level| *level as usize);
            let (Some(x), Some(y)) = (place(across), place(down)) else { continue };
            let others = self.others(&saved.levels, &[across, down]);
            let tile = self.tile(variant, x, y);
            if let Some((_, facet)) = found.iter_mut().find(|(key, _)| *key == others) {
                facet.tiles.extend(tile);
            } else {
                let title = self.levels_label(&saved.levels, &[across, down]);
                found.push((others, Facet { title, tiles: tile.into_iter().collect() }));
            }
        }
        found.into_iter().map(|(_, facet)| facet).collect()
    }

    fn tile(&self, variant: usize, across: usize, down: usize) -> Option<Tile> {
        if variant == self.results.baseline {
            return Some(Tile { across, down, ratio: 1.0, decided: true, baseline: true });
        }
        let comparison = self.observed.comparison(self.main, variant)?;
        let decided = comparison.effect.verdict != Verdict::Undecided && !comparison.too_short;
        Some(Tile { across, down, ratio: comparison.effect.ratio, decided, baseline: false })
    }
}

/// Whether two levels of one factor both stand with two levels of the other.
fn is_crossed(tiles: &[Tile]) -> bool {
    let has = |across: usize, down: usize| tiles.iter().any(|tile| (tile.across, tile.down) == (across, down));
    tiles.iter().any(|one| {
        let others = tiles.iter().filter(|other| other.across != one.across && other.down != one.down);
        others.into_iter().any(|other| has(one.across, other.down) && has(other.across, one.down))
    })
}
