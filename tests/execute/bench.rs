//! An experiment on disk, an engine for it, and what is asked of both afterwards.

use super::meddler::{Meddler, Notes, One};
use shakedown::engine::fake::FakeEngine;
use shakedown::execute::{self, Ended, ExecuteError, Job, JobVariant, Observer, Progress, Scheduled};
use shakedown::manifest::{self, Source};
use shakedown::measure::parsers::{self, PARSERS};
use shakedown::model::catalog::Catalog;
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::event::{Event, Looked, TrialRow};
use shakedown::model::experiment::PhaseLimits;
use shakedown::model::facts::HostFacts;
use shakedown::model::hygiene::Thresholds;
use shakedown::model::observe::Observe;
use shakedown::model::outcome::{FailureKind, Phase};
use shakedown::model::plan::{AA_SUFFIX, Trial, copy_has_its_own_engine};
use shakedown::model::spec::EngineSpec;
use shakedown::plan::saved::saved;
use shakedown::plan::{self, History, Options};
use shakedown::record::{RunFolder, Store, read_journal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Seen(Vec<Event>);

impl Observer for Seen {
    fn event(&mut self, event: &Event, progress: &Progress) {
        assert!(progress.done <= progress.total);
        self.0.push(event.clone());
    }

    fn look(&mut self) -> Option<Looked> {
        None
    }
}

/// An experiment on disk and an engine for it.
pub(super) struct Bench {
    pub(super) folder: tempfile::TempDir,
    pub(super) run: RunFolder,
    pub(super) job: Job,
    pub(super) fake: FakeEngine,
    pub(super) token: CancellationToken,
    pub(super) changes: Changes,
    pub(super) notes: Notes,
}

/// What a test changes of the scripted engine.
#[derive(Clone, Default)]
pub(super) struct Changes {
    /// Cancels when a call is made for the `n`th time.
    pub(super) cancel_at: Option<(&'static str, usize)>,
    /// Digest of the image that units are said to have run from.
    pub(super) image: Option<String>,
    /// A unit that has ended once a call such as `start workload` was made in its trial.
    pub(super) ends_after: Option<(&'static str, &'static str)>,
    /// Commands inside units that fail until such a call was made in their trial.
    pub(super) gates: Vec<(&'static str, &'static str)>,
    /// Where the counters of units' control groups are: each gets two seconds of CPU time while a workload is waited for.
    pub(super) counters: Option<PathBuf>,
    /// First and last of the starts of a private engine that fail; the first of all is for its images.
    pub(super) broken_starts: Option<(usize, usize)>,
}

impl Bench {
    pub(super) fn new(text: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let source = Source { name: "e", folder: folder.path(), text };
        let (experiment, _) = manifest::read(&source, &|_| None).expect("manifest");
        let parsers = PARSERS.iter().map(|parser| parser.info()).collect();
        let catalog = Catalog { parsers, check_extraction: parsers::check, check_pattern: parsers::check_pattern, charts: &[] };
        let planned = plan::plan(&experiment, &catalog, &History::new(), &Options::default()).expect("plan");
        let plan = saved(&planned);
        let run = Store::new(folder.path(), "e").create_run("r", &plan).expect("run");
        let variants = planned.plan.variants.iter().map(|variant| JobVariant {
            id: variant.id.to_string(),
            identity: variant.identity.to_string(),
            spec: planned.binder.resolve(&variant.levels).unwrap_or_else(|_| panic!("it resolved before")).spec,
            copy: false,
            seconds: None,
        });
        let mut variants: Vec<JobVariant> = variants.collect();
        let engines: Vec<EngineSpec> = variants.iter().map(|variant| variant.spec.engine.clone()).collect();
        let own = copy_has_its_own_engine(&engines[planned.plan.baseline], &engines);
        variants.iter_mut().filter(|variant| variant.id.ends_with(AA_SUFFIX)).for_each(|copy| copy.copy = own);
        let scheduled = |trial: &Trial| Scheduled {
            id: trial.id(),
            variant: trial.variant as usize,
            block: trial.block,
            position: trial.position,
            engine_start: planned.plan.engine_start(trial),
            attempt: 1,
        };
        let job = Job {
            run: format!("fake{}", std::process::id()),
            experiment: "e".into(),
            digest: plan.digest.clone(),
            folder: folder.path().to_owned(),
            variants,
            trials: planned.plan.trials.iter().map(scheduled).collect(),
            limits: experiment.limits.clone(),
            images: Vec::new(),
            host: HostFacts::default(),
            layout: CgroupLayout::default(),
            keep: false,
            observe: Observe { interval: None, processes: Vec::new(), idle_gate: None },
            hygiene: Thresholds::default(),
        };
        let fake = FakeEngine::from_json(script).expect("script");
        let mut job = job;
        if script.contains("hang") {
            // What does not hang answers at once, so that short limits decide nothing else.
            let soon = Duration::from_millis(20);
            job.limits = PhaseLimits { images: soon, create: soon, start: soon, collect: soon, teardown: soon, ..job.limits };
            job.variants.iter_mut().flat_map(|variant| &mut variant.spec.workloads).for_each(|workload| workload.timeout = soon);
        }
        Self { folder, run, job, fake, token: CancellationToken::new(), changes: Changes::default(), notes: Notes::default() }
    }

    pub(super) fn with_blocks(text: &str, blocks: u32, script: &str) -> Self {
        Self::new(&text.replace("blocks: 1", &format!("blocks: {blocks}")), script)
    }

    pub(super) async fn run(&self) -> Result<Ended, ExecuteError> {
        let engine = Meddler::new(self.fake.clone(), self.token.clone(), self.changes.clone(), self.notes.clone());
        let ready = execute::preflight(&self.job.variants, Arc::new(One::new(engine))).await?;
        let mut seen = Seen::default();
        let before = self.events().len();
        let ended = execute::run(&self.job, &ready, &self.run, &mut seen, &self.token).await;
        assert_eq!(self.events()[before..], seen.0, "the record has what the observer saw");
        ended
    }

    /// Goes on as `run` does: the trials without a row, and an engine that was mended.
    pub(super) fn mended(mut self, script: &str) -> Self {
        let done: Vec<String> = self.rows().into_iter().map(|row| row.trial).collect();
        self.job.trials.retain(|trial| !done.contains(&trial.id));
        self.fake = FakeEngine::from_json(script).expect("script");
        self.token = CancellationToken::new();
        self.changes.cancel_at = None;
        self
    }

    pub(super) fn events(&self) -> Vec<Event> {
        read_journal(&self.run.journal()).expect("journal")
    }

    pub(super) fn rows(&self) -> Vec<TrialRow> {
        self.events().into_iter().filter_map(|event| if let Event::TrialFinished(row) = event { Some(*row) } else { None }).collect()
    }

    /// Outcome of each row: phase and kind, or none when it is good.
    pub(super) fn failures(&self) -> Vec<Option<(Phase, FailureKind)>> {
        self.rows().iter().map(|row| row.failure.as_ref().map(|failure| (failure.phase, failure.kind))).collect()
    }

    pub(super) fn nothing_is_left(&self, what: &str) {
        assert_eq!(self.fake.live(), Vec::<String>::new(), "{what}");
    }
}
