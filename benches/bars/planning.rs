//! `plan`: a million trials at once, ten thousand in a moment, and shapes that are harder than either.

use super::scene::Scene;
use super::table::{Table, Value, median};
use std::path::Path;

/// The committed manifest: about 10,000 variants in 100 blocks.
const MILLION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/plan.yaml");

pub fn measure(table: &mut Table) -> Result<(), String> {
    let scene = Scene::new(&thousands(1_000, 10))?;
    let (_, cpu, peak) = medians(&scene, Path::new(MILLION), 3)?;
    table.bar("plan of 1,000,000 trials (10,000 variants, 100 blocks): CPU", cpu, Value::Seconds(1.0));
    table.bar("plan of 1,000,000 trials: peak memory", peak, Value::Bytes(300e6));
    let small = scene.path().join("bench.yaml");
    let (wall, cpu, _) = medians(&scene, &small, 15)?;
    table.bar("plan of 10,000 trials (1,000 variants, 10 blocks): wall", wall, Value::Seconds(0.020));
    table.bar("plan of 10,000 trials: CPU", cpu, Value::Seconds(0.020));
    for (variants, blocks) in [(1_000, 1_000), (100_000, 10)] {
        let path = scene.path().join(format!("plan-{variants}.yaml"));
        std::fs::write(&path, thousands(variants, blocks)).map_err(|error| error.to_string())?;
        let (_, cpu, peak) = medians(&scene, &path, 1)?;
        table.number(&format!("  the same number as {variants} variants in {blocks} blocks: CPU"), cpu);
        table.number(&format!("  the same number as {variants} variants in {blocks} blocks: peak memory"), peak);
    }
    Ok(())
}

/// Wall, CPU and peak of planning, the middle of so many.
fn medians(scene: &Scene, manifest: &Path, times: usize) -> Result<(Value, Value, Value), String> {
    let usages = (0..times).map(|_| scene.plan(manifest)).collect::<Result<Vec<_>, _>>()?;
    let middle = |part: fn(&super::child::Usage) -> f64| median(&mut usages.iter().map(part).collect::<Vec<_>>());
    Ok((Value::Seconds(middle(|u| u.wall)), Value::Seconds(middle(|u| u.cpu)), Value::Bytes(middle(|u| u.peak))))
}

/// The committed manifest's kind with so many variants: as many levels of one factor as it takes, two rules that leave out nothing
/// but their own added level.
fn thousands(variants: u32, blocks: u32) -> String {
    let list = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let megabytes = list(&mut (1..=variants / 100 + 1));
    format!(
        "title: Planning in another shape\n\
         matrix:\n\
         \x20 tool: [md5sum, sha1sum, sha256sum, sha512sum, b2sum, cksum, sum, wc, cat, od]\n\
         \x20 cpus: [0.10, 0.20, 0.25, 0.40, 0.50, 0.75, 1, 1.50, 2, 4]\n\
         \x20 megabytes: [{megabytes}]\n\
         exclude:\n\
         \x20 - {{tool: [md5sum, sha1sum, sha256sum], megabytes: {last}}}\n\
         \x20 - when: \"megabytes > {most} and cpus < 8\"\n\
         workload:\n\
         \x20 pack: [/usr/bin/bash, /usr/bin/dd, \"/usr/bin/{{{{ tool }}}}\"]\n\
         \x20 command: [bash, -c, \"time dd if=/dev/urandom bs=1M count={{{{ megabytes }}}} status=none | {{{{ tool }}}}\"]\n\
         \x20 cpus: \"{{{{ cpus }}}}\"\n\
         \x20 network_mode: none\n\
         \x20 parse: time\n\
         design: {{blocks: {blocks}, seed: 7}}\n",
        last = variants / 100 + 1,
        most = variants / 100,
    )
}
