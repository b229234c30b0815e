//! The order of trials: randomised complete blocks, position-balanced, batches shuffled within a block, trials within a batch.
//!
//! Over each cycle of k blocks every variant of a batch stands once at every position (rows, columns and symbols of a cyclic
//! Latin square, freshly permuted per cycle), so what is special about the first trial after a switch hits every variant alike.

use super::random::Random;
use crate::model::plan::Trial;

/// What must be ordered: variants that share an engine set-up stand together.
#[derive(Debug, Clone)]
pub struct Group {
    /// Indices of the variants.
    pub variants: Vec<u32>,
}

/// Orders `blocks` blocks over groups; `wanted(variant, block)` says whether a variant takes part in a block (from 1).
#[must_use]
pub fn order(groups: &[Group], blocks: u32, seed: u64, wanted: &dyn Fn(u32, u32) -> bool) -> Vec<Trial> {
    let mut random = Random::new(seed);
    let mut squares: Vec<Square> = groups.iter().map(|group| Square::new(group.variants.len())).collect();
    let mut between = Square::new(groups.len());
    let mut trials = Vec::new();
    let mut batch = 0;
    for block in 1..=blocks {
        let mut position = 0;
        let rows: Vec<Vec<u32>> = squares.iter_mut().map(|square| square.row(&mut random)).collect();
        for group in between.row(&mut random) {
            let mut started = false;
            for symbol in &rows[group as usize] {
                let variant = groups[group as usize].variants[*symbol as usize];
                if !wanted(variant, block) {
                    continue;
                }
                if !started {
                    batch += 1;
                    started = true;
                }
                position += 1;
                trials.push(Trial { variant, block, position, batch });
            }
        }
    }
    trials
}

/// Rows of a Latin square, one after the other; a fresh one per cycle.
struct Square {
    size: usize,
    next: usize,
    rows: Vec<u32>,
    columns: Vec<u32>,
    symbols: Vec<u32>,
}

impl Square {
    fn new(size: usize) -> Self {
        Self { size, next: size, rows: Vec::new(), columns: Vec::new(), symbols: Vec::new() }
    }

    fn row(&mut self, random: &mut Random) -> Vec<u32> {
        if self.next >= self.size {
            self.next = 0;
            self.rows = random.permutation(self.size);
            self.columns = random.permutation(self.size);
            self.symbols = random.permutation(self.size);
        }
        let shift = self.rows.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        let size = self.size as u32;
        self.columns.iter().map(|column| self.symbols[((shift + column) % size) as usize]).collect()
    }
}
