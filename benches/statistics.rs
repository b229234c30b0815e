//! The error rates of the whole chain, planner's order to verdict, over seven kinds of noise: `make bench-statistics`.
//!
//! Numbers are simulated, not measured: the same seed gives the same table on any machine. A rate beyond its limit gives exit code 1.

#[path = "../tests/statistics/noise.rs"]
mod noise;
#[path = "../tests/statistics/trials.rs"]
mod trials;

use noise::{Draws, KINDS, Noise};
use std::process::ExitCode;
use trials::{Judged, Order, Trials};

const BLOCKS: [usize; 6] = [3, 5, 8, 10, 20, 30];

/// Experiments without an effect per cell: a true 5 % shows as at most 5.5 % (three standard errors).
const EXPERIMENTS: usize = 20_000;

/// A rate of false alarms, in percent, that is too much.
const LIMIT: f64 = 5.5;

/// Experiments with an effect per cell.
const WITH_EFFECT: usize = 8_000;

/// Experiments of the adaptive rule per cell.
const ADAPTIVE: usize = 4_000;

/// By noise, over the numbers of blocks.
type PowerTable = [(Noise, [f64; 6]); 6];

/// Power in percent of one comparison, by effect in percent and noise, over the numbers of blocks: `STATISTICS.md` 3.3, simulated with
/// another program; whole percents of 8,000 experiments.
const POWER: [(f64, PowerTable); 4] = [
    (
        1.0,
        [
            (Noise::Normal, [6.0, 7.0, 10.0, 13.0, 21.0, 31.0]),
            (Noise::Lognormal, [8.0, 14.0, 18.0, 21.0, 32.0, 40.0]),
            (Noise::Bimodal, [5.0, 8.0, 11.0, 12.0, 21.0, 29.0]),
            (Noise::Ar1, [9.0, 16.0, 29.0, 36.0, 66.0, 85.0]),
            (Noise::Outlier, [4.0, 4.0, 4.0, 5.0, 8.0, 10.0]),
            (Noise::Neighbour, [6.0, 8.0, 13.0, 15.0, 24.0, 31.0]),
        ],
    ),
    (
        2.0,
        [
            (Noise::Normal, [10.0, 16.0, 27.0, 35.0, 65.0, 83.0]),
            (Noise::Lognormal, [20.0, 35.0, 49.0, 55.0, 73.0, 83.0]),
            (Noise::Bimodal, [11.0, 20.0, 25.0, 32.0, 63.0, 82.0]),
            (Noise::Ar1, [22.0, 50.0, 79.0, 89.0, 100.0, 100.0]),
            (Noise::Outlier, [6.0, 8.0, 10.0, 13.0, 19.0, 23.0]),
            (Noise::Neighbour, [13.0, 24.0, 38.0, 45.0, 61.0, 76.0]),
        ],
    ),
    (
        5.0,
        [
            (Noise::Normal, [29.0, 65.0, 92.0, 97.0, 100.0, 100.0]),
            (Noise::Lognormal, [54.0, 79.0, 91.0, 93.0, 98.0, 99.0]),
            (Noise::Bimodal, [30.0, 61.0, 92.0, 98.0, 100.0, 100.0]),
            (Noise::Ar1, [73.0, 100.0, 100.0, 100.0, 100.0, 100.0]),
            (Noise::Outlier, [18.0, 34.0, 44.0, 46.0, 67.0, 82.0]),
            (Noise::Neighbour, [43.0, 73.0, 84.0, 92.0, 100.0, 100.0]),
        ],
    ),
    (
        10.0,
        [
            (Noise::Normal, [72.0, 100.0, 100.0, 100.0, 100.0, 100.0]),
            (Noise::Lognormal, [82.0, 96.0, 99.0, 99.0, 100.0, 100.0]),
            (Noise::Bimodal, [66.0, 100.0, 100.0, 100.0, 100.0, 100.0]),
            (Noise::Ar1, [100.0, 100.0, 100.0, 100.0, 100.0, 100.0]),
            (Noise::Outlier, [45.0, 64.0, 74.0, 86.0, 99.0, 100.0]),
            (Noise::Neighbour, [77.0, 95.0, 100.0, 100.0, 100.0, 100.0]),
        ],
    ),
];

/// The rates of many experiments, in percent.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Of comparisons with a p of at most 5 % by itself.
    significant: f64,
    /// Of experiments that call anything different.
    family: f64,
    /// Blocks that an experiment took, on average.
    blocks: f64,
}

/// One thing to simulate; its place in the list is its seed.
#[derive(Debug, Clone, Copy)]
struct Cell {
    noise: Noise,
    variants: usize,
    /// None by the adaptive rule.
    blocks: Option<usize>,
    effect: f64,
    order: Order,
    experiments: usize,
}

impl Cell {
    fn identical(noise: Noise, variants: usize, blocks: Option<usize>, experiments: usize) -> Self {
        Self { noise, variants, blocks, effect: 0.0, order: Order::Planned, experiments }
    }

    fn run(self, seed: u64) -> Rates {
        let mut draws = Draws::new(seed);
        let mut trials = self.blocks.map_or_else(|| Trials::adaptive(self.variants), |blocks| Trials::new(self.variants, blocks));
        let (mut all, mut families, mut taken) = (Judged::default(), 0_u32, 0);
        for _ in 0..self.experiments {
            let (judged, blocks) = match self.blocks {
                Some(blocks) => (trials.measure(self.noise, self.order, self.effect, &mut draws), blocks),
                None => trials.measure_until_narrow(self.noise, self.effect, &mut draws),
            };
            all.comparisons += judged.comparisons;
            all.significant += judged.significant;
            families += u32::from(judged.different > 0);
            taken += blocks;
        }
        let experiments = self.experiments as f64;
        Rates {
            significant: 100.0 * f64::from(all.significant) / f64::from(all.comparisons),
            family: 100.0 * f64::from(families) / experiments,
            blocks: taken as f64 / experiments,
        }
    }
}

/// Simulates all cells on all CPUs; the answers do not depend on how many there are.
fn simulate(cells: &[Cell]) -> Vec<Rates> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = std::sync::Mutex::new(vec![None; cells.len()]);
    let work = || {
        while let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            && let Some(cell) = cells.get(at)
        {
            let rates = cell.run(at as u64 + 1);
            answers.lock().expect("no one panics")[at] = Some(rates);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    answers.into_inner().expect("no one panics").into_iter().map(|rates| rates.expect("every cell was simulated")).collect()
}

fn header(title: &str) {
    println!("\n{title}\n");
    println!("{:<12}{}", "blocks", BLOCKS.map(|blocks| format!("{blocks:>8}")).concat());
}

/// Identical variants: the largest rate of the table.
fn false_alarms(variants: usize) -> f64 {
    let cell = |noise| BLOCKS.map(|blocks| Cell::identical(noise, variants, Some(blocks), EXPERIMENTS));
    let rates = simulate(&KINDS.iter().copied().flat_map(cell).collect::<Vec<_>>());
    let mut worst: f64 = 0.0;
    let mut table = |title: &str, of: fn(&Rates) -> f64| {
        header(title);
        for (noise, rates) in KINDS.iter().zip(rates.chunks(BLOCKS.len())) {
            println!("{:<12}{}", noise.name(), rates.iter().map(|rates| format!("{:>8.1}", of(rates))).collect::<String>());
            worst = rates.iter().map(of).fold(worst, f64::max);
        }
    };
    table(&format!("A/A, {variants} identical variants: comparisons with p <= 5 % by itself, in %"), |rates| rates.significant);
    if variants > 2 {
        table(&format!("A/A, {variants} identical variants: experiments that call any of them different, in %"), |rates| rates.family);
    }
    worst
}

/// Real differences: how many cells are further from the published power than chance explains, both simulations' and rounding.
fn power() -> usize {
    let mut off = 0;
    for (effect, table) in POWER {
        let cells: Vec<Cell> = table
            .iter()
            .flat_map(|(noise, _)| {
                BLOCKS.map(|blocks| Cell { effect: effect / 100.0, ..Cell::identical(*noise, 2, Some(blocks), WITH_EFFECT) })
            })
            .collect();
        let rates = simulate(&cells);
        header(&format!("power at a difference of {effect} %, in % (in brackets: published)"));
        for ((noise, published), rates) in table.iter().zip(rates.chunks(BLOCKS.len())) {
            let mut line = format!("{:<12}", noise.name());
            for (rates, published) in rates.iter().zip(published) {
                let p = (published / 100.0).clamp(0.005, 0.995);
                let error = 100.0 * (2.0 * p * (1.0 - p) / WITH_EFFECT as f64).sqrt();
                let is_off = (rates.family - published).abs() > 3.0 * error + 0.5;
                off += usize::from(is_off);
                line.push_str(&format!("{:>6.1} ({published}){}", rates.family, if is_off { "!" } else { "" }));
            }
            println!("{line}");
        }
    }
    off
}

/// Identical variants by the adaptive rule: the largest rate.
fn adaptive() -> f64 {
    println!(
        "\nA/A by the adaptive rule (looks at 8, 12, 16, 24 and 32 blocks): experiments that call any variant different, in %, and blocks taken\n"
    );
    println!("{:<12}{:>18}{:>18}{:>18}", "variants", 2, 3, 6);
    let kinds = [Noise::Normal, Noise::Lognormal, Noise::Bimodal, Noise::Ar1, Noise::Outlier];
    let cell = |noise| [2, 3, 6].map(|variants| Cell::identical(noise, variants, None, ADAPTIVE));
    let rates = simulate(&kinds.iter().copied().flat_map(cell).collect::<Vec<_>>());
    for (noise, rates) in kinds.iter().zip(rates.chunks(3)) {
        let cells: String = rates.iter().map(|rates| format!("{:>12.1} ({:>3.0})", rates.family, rates.blocks)).collect();
        println!("{:<12}{cells}", noise.name());
    }
    rates.iter().map(|rates| rates.family).fold(0.0, f64::max)
}

/// What the blocks are for: the same without them, in percent.
fn sequential() -> f64 {
    let cell = Cell { order: Order::Sequential, ..Cell::identical(Noise::Ar1, 2, Some(5), EXPERIMENTS) };
    let rate = simulate(&[cell])[0].family;
    println!(
        "\nA/A with all trials of one variant before those of the other, AR(1), 5 blocks: {rate:.1} % (the check must see it: at least 20 %)"
    );
    rate
}

fn main() -> ExitCode {
    println!("Simulated: {EXPERIMENTS} experiments per cell without an effect, {WITH_EFFECT} with one, {ADAPTIVE} adaptive ones.");
    let worst = false_alarms(2).max(false_alarms(6));
    let off = power();
    println!("\npower further from the published than three standard errors: {off} of 144 cells");
    let by_looking = adaptive();
    let sequential = sequential();
    println!("worst of the adaptive rule {by_looking:.1} %");
    println!("worst A/A {worst:.1} %");
    // Of 144 cells beyond three standard errors chance alone explains one now and then.
    if worst <= LIMIT && sequential >= 20.0 && off <= 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
