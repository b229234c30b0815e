//! Corrections for asking several questions at once.

/// Holm's step-down adjustment: the chance of even one false "different" in the family stays below the level. Keeps the order given.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (step, index) in order.iter().enumerate() {
        largest = largest.max(p[*index] * (p.len() - step) as f64).min(1.0);
        adjusted[*index] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's step-up adjustment: the expected share of false ones among what is called different stays below the
/// level. Keeps the order given.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (step, index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p[*index] * p.len() as f64 / (step + 1) as f64);
        adjusted[*index] = smallest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}
