//! What a container trial costs: `run` of `true` beside the engine's own create, start, wait, logs and remove, and `docker run --rm`.

use super::http::Http;
use super::scene::Scene;
use super::table::{Table, Value, median};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Rounds of ten trials, five bare ones before and five after them, and some of `docker run`.
const ROUNDS: usize = 5;
const BLOCKS: u32 = 5;
const BARE: usize = 5;
const COMMANDS: usize = 4;

const MANIFEST: &str = "title: Nothing, in a container\n\
    workload: {pack: [/usr/bin/true], command: [/usr/bin/true], network_mode: none}\n\
    observe: {idle_gate: off}\n";

pub fn measure(table: &mut Table) -> Result<(), String> {
    let mut http = match Http::connect() {
        Ok(http) => http,
        Err(reason) => {
            table.note(&format!("container trials: not available: {reason}"));
            return Ok(());
        }
    };
    let before = images(&mut http)?;
    let scene = Scene::new(MANIFEST)?;
    let image = scene.run(1)?.images.into_iter().next().ok_or("no image was made ready")?;
    let result = compare(table, &mut http, &scene, &image);
    if !before.contains(&image) {
        http.call("DELETE", &format!("/images/{image}?force=true"), "")?;
    }
    result
}

fn compare(table: &mut Table, http: &mut Http, scene: &Scene, image: &str) -> Result<(), String> {
    let command = Command::new("docker").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    bare(http, image)?;
    let (mut raw, mut ours, mut whole, mut docker, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut own = (0..BARE).map(|_| bare(http, image)).collect::<Result<Vec<_>, _>>()?;
        let ran = scene.run(BLOCKS)?;
        own.extend((0..BARE).map(|_| bare(http, image)).collect::<Result<Vec<_>, _>>()?);
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        ratios.push(ran.per_trial / mean);
        ours.push(ran.per_trial);
        whole.push(ran.usage.wall / ran.trials as f64);
        raw.push(mean);
        for _ in 0..if command { COMMANDS } else { 0 } {
            docker.push(docker_run(image)?);
        }
    }
    let ours = median(&mut ours);
    table.number("engine's own create, start, wait, logs and remove of `true`", Value::Seconds(median(&mut raw)));
    table.number("container trial of it: one more, journal included", Value::Seconds(ours));
    table.number("container trial: whole run of 10, start-up and report included", Value::Seconds(median(&mut whole)));
    table.bar("container trial / the engine's own calls", Value::Times(median(&mut ratios)), Value::Times(1.05));
    if command {
        let docker = median(&mut docker);
        table.number("docker run --rm of it", Value::Seconds(docker));
        table.bar("container trial / docker run --rm", Value::Times(ours / docker), Value::Times(1.0));
    } else {
        table.note("docker run --rm: not available: there is no docker command");
    }
    Ok(())
}

/// Seconds of one container from its making to its removal. Whatever fails, it is removed.
fn bare(http: &mut Http, image: &str) -> Result<f64, String> {
    let clock = Instant::now();
    let body = format!(
        r#"{{"Image":"{image}","Cmd":["/usr/bin/true"],"Labels":{{"shakedown.bench":"bars"}},"HostConfig":{{"NetworkMode":"none"}}}}"#
    );
    let made = http.call("POST", "/containers/create", &body)?;
    let made: serde_json::Value = serde_json::from_slice(&made).map_err(|error| error.to_string())?;
    let id = made["Id"].as_str().ok_or("the engine gives no id")?;
    let mut live = || -> Result<(), String> {
        http.call("POST", &format!("/containers/{id}/start"), "")?;
        http.call("POST", &format!("/containers/{id}/wait"), "")?;
        http.call("GET", &format!("/containers/{id}/logs?stdout=1&stderr=1"), "")?;
        Ok(())
    };
    let lived = live();
    http.call("DELETE", &format!("/containers/{id}?force=1&v=1"), "")?;
    lived.map(|()| clock.elapsed().as_secs_f64())
}

fn docker_run(image: &str) -> Result<f64, String> {
    let mut command = Command::new("docker");
    command.args(["run", "--rm", "--network", "none", image, "/usr/bin/true"]).stdout(Stdio::null());
    Ok(super::child::run(&mut command)?.wall)
}

fn images(http: &mut Http) -> Result<BTreeSet<String>, String> {
    let listed = http.call("GET", "/images/json", "")?;
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&listed).map_err(|error| error.to_string())?;
    Ok(listed.iter().filter_map(|image| image["Id"].as_str()).map(str::to_owned).collect())
}
