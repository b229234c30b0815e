//! What a native trial costs beyond its command: `run` of `/bin/true` on the host beside a bare fork, exec and wait.

use super::child;
use super::scene::Scene;
use super::table::{Table, Value, median};

/// Trials of one run: the variant and its A/A copy in so many blocks.
const BLOCKS: u32 = 100;
/// Runs, each between two halves of a bare loop.
const ROUNDS: usize = 3;

pub fn measure(table: &mut Table) -> Result<(), String> {
    let scene = Scene::new("title: Nothing, on the host\nworkload: {on: host, command: /bin/true}\nobserve: {idle_gate: off}\n")?;
    scene.run(5)?;
    let (mut bare, mut all, mut each, mut whole) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut own = bare_loop(BLOCKS as usize)?;
        let ran = scene.run(BLOCKS)?;
        own.extend(bare_loop(ran.trials - BLOCKS as usize)?);
        let alone = median(&mut own);
        bare.push(alone);
        all.push(ran.usage.wall / ran.trials as f64 - alone);
        each.push(ran.per_trial - alone);
        whole.push(ran.usage.wall);
    }
    let trials = 2 * BLOCKS;
    table.number("bare fork, exec and wait of /bin/true", Value::Seconds(median(&mut bare)));
    table.number(&format!("run of {trials} native trials of it, start-up and report included"), Value::Seconds(median(&mut whole)));
    let name = "native trial: one more, journal included, minus the bare loop";
    table.bar(name, Value::Seconds(median(&mut each)), Value::Seconds(0.0015));
    let name = format!("native trial: whole run / {trials}, minus the bare loop");
    table.bar(&name, Value::Seconds(median(&mut all)), Value::Seconds(0.0015));
    Ok(())
}

fn bare_loop(times: usize) -> Result<Vec<f64>, String> {
    (0..times).map(|_| child::bare("/bin/true")).collect()
}
