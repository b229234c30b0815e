//! `clean`: removes what dead runs left on this host.

use super::{engines::Engines, exit, talk};
use crate::execute::EngineSource;
use crate::model::spec::EngineSpec;

/// Remove what dead runs left: containers, networks, private daemons, cgroups and processes with our label.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Address of the engine; without it the daemon that docker would use.
    #[arg(long, value_name = "URL", env = "SHAKEDOWN_ENGINE")]
    engine: Option<String>,
}

pub fn run(arguments: &Arguments) -> u8 {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(failure) => {
            talk::error(format!("start the runtime: {failure}"));
            return exit::MACHINE;
        }
    };
    runtime.block_on(sweep(arguments.engine.as_deref()))
}

async fn sweep(address: Option<&str>) -> u8 {
    let engines = match Engines::new(address) {
        Ok(engines) => engines,
        Err(error) => {
            talk::error(error);
            return exit::MACHINE;
        }
    };
    let alive = crate::record::alive_runs();
    let mut code = exit::OK;
    let mut removed = Vec::new();
    let mut looked_everywhere = true;
    match engines.open(&EngineSpec::default()).await {
        Ok(engine) => match engine.sweep(&alive.runs).await {
            Ok(mut list) => removed.append(&mut list),
            Err(error) => {
                talk::error(error);
                code = exit::MACHINE;
            }
        },
        Err(error) if address.is_some() => {
            talk::error(error);
            code = exit::MACHINE;
        }
        Err(error) => {
            talk::note(format!("containers were not looked at: {error}"));
            looked_everywhere = false;
        }
    }
    match engines.host(None) {
        Ok(host) => match host.sweep(&alive.runs).await {
            Ok(mut list) => removed.append(&mut list),
            Err(error) => {
                talk::error(error);
                code = exit::MACHINE;
            }
        },
        Err(error) => {
            talk::note(format!("host processes were not looked at: {error}"));
            looked_everywhere = false;
        }
    }
    match engines.sweep_private(&alive.runs) {
        Ok(mut list) => removed.append(&mut list),
        Err(error) => {
            talk::error(error);
            code = exit::MACHINE;
        }
    }
    for what in &removed {
        talk::note(format!("removed {what}"));
    }
    if removed.is_empty() && looked_everywhere && code == exit::OK {
        talk::note("nothing was left");
    }
    code
}
