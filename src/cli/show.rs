//! Progress: a bar with the time left on a terminal, one line per finished trial elsewhere, JSON for machines. All on stderr.

use super::planned::show_time;
use super::talk;
use crate::execute::Progress;
use crate::model::event::{Enough, Event, Looked, TOO_SHORT, TrialRow};
use crate::model::outcome::Outcome;
use crate::report::visible::visible;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// Every event as a JSON line.
    Json,
}

/// Shows events as they come.
pub struct Show {
    form: Form,
    /// The metric that lines show.
    primary: String,
    /// A trial with a shorter window is marked.
    min_window: Duration,
}

enum Form {
    Bar(ProgressBar),
    Lines,
    Json,
}

impl Show {
    /// Chooses the form: the bar only where someone watches.
    pub fn new(format: LogFormat, total: usize, primary: String, min_window: Duration) -> Self {
        let form = match format {
            LogFormat::Json => Form::Json,
            LogFormat::Text if std::io::stderr().is_terminal() && std::env::var_os("CI").is_none() => {
                let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {prefix}  {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar());
                bar.set_style(style);
                bar.enable_steady_tick(Duration::from_millis(500));
                Form::Bar(bar)
            }
            LogFormat::Text => Form::Lines,
        };
        Self { form, primary, min_window }
    }

    fn say(&self, line: &str) {
        let line = visible(line);
        match &self.form {
            Form::Bar(bar) => bar.suspend(|| talk::line(line)),
            Form::Lines | Form::Json => talk::line(line),
        }
    }

    fn finished(&self, row: &TrialRow, progress: &Progress) {
        let failure = row.failure.as_ref().map(|f| format!("failed in {}: {}", f.phase.name(), f.reason));
        match &self.form {
            Form::Bar(bar) => {
                bar.set_position(progress.done as u64);
                if let Some(failure) = failure {
                    self.say(&format!("{} {}: {failure}", row.trial, row.variant));
                }
            }
            Form::Lines => {
                let value = row.metrics.iter().find(|m| m.name == self.primary);
                let told = match (failure, value) {
                    (Some(failure), _) => failure,
                    (None, Some(metric)) if row.outcome == Outcome::Ok => {
                        let unit = if metric.unit.symbol() == "1" { "" } else { metric.unit.symbol() };
                        format!("{} {:.4} {unit}", metric.name, metric.value).trim_end().to_owned()
                    }
                    (None, _) if row.is_primer() => "primer, thrown away".to_owned(),
                    (None, _) => "ok".to_owned(),
                };
                let short = row.is_too_short(self.min_window).then_some(TOO_SHORT);
                let taints: Vec<&str> = short.into_iter().chain(row.taints.iter().map(String::as_str)).collect();
                let taint = if taints.is_empty() { String::new() } else { format!(" [{}]", taints.join(", ")) };
                let left = progress.left.map(|left| format!(", {} left", show_time(left))).unwrap_or_default();
                self.say(&format!("[{}/{}{left}] {} {}: {told}{taint}", progress.done, progress.total, row.trial, row.variant));
            }
            Form::Json => {}
        }
    }
}

impl Show {
    /// Shows an event that is in the record.
    pub fn event(&mut self, event: &Event, progress: &Progress) {
        if let Form::Json = self.form {
            match serde_json::to_string(event) {
                Ok(line) => talk::line(line),
                Err(error) => talk::error(error),
            }
            return;
        }
        match event {
            Event::RunStarted(started) => {
                for engine in &started.engines {
                    let version = if engine.version.is_empty() { String::new() } else { format!(" {}", engine.version) };
                    let found = if engine.found_by.is_empty() { String::new() } else { format!(" ({})", engine.found_by) };
                    let place = if engine.endpoint.is_empty() { String::new() } else { format!(" at {}", engine.endpoint) };
                    self.say(&format!("engine: {}{version}{place}{found}", engine.kind));
                }
            }
            Event::ImageReady { image, digest, seconds } => {
                let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
                self.say(&format!("image: {} -> {} ({seconds:.1} s)", short(image), digest.get(..12).unwrap_or(digest)));
            }
            Event::TrialStarted { .. } => {
                if let Form::Bar(bar) = &self.form {
                    bar.set_prefix(
                        progress.left.map_or_else(|| "time left unknown".to_owned(), |left| format!("{} left", show_time(left))),
                    );
                    bar.set_message(progress.current.as_ref().map(|(_, variant)| variant.clone()).unwrap_or_default());
                }
            }
            Event::TrialFinished(row) => self.finished(row, progress),
            Event::Warned { message, .. } => self.say(&format!("warning: {message}")),
            Event::RunFinished { .. } | Event::RunInterrupted { .. } => {
                if let Form::Bar(bar) = &self.form {
                    bar.finish_and_clear();
                }
            }
            Event::Looked(looked) => self.say(&look(looked)),
            Event::Presented(_) => {}
        }
    }
}

/// A look at the spread in words.
fn look(looked: &Looked) -> String {
    let width = looked.half_width.map_or_else(|| "no spread yet".to_owned(), |half| format!("intervals of ± {:.2} %", 100.0 * half));
    let then = match looked.enough {
        None => "not narrow enough, going on",
        Some(Enough::Narrow) => "narrow enough",
        Some(Enough::Budget) => "the time is over",
        Some(Enough::Last) => "the last look",
    };
    format!("look after {} blocks: {width}, {then}", looked.blocks)
}

/// The beginning of what an image was asked for: a pack may name many files.
fn short(image: &str) -> String {
    const MOST: usize = 60;
    if image.chars().count() <= MOST {
        return image.to_owned();
    }
    let kept: String = image.chars().take(MOST).collect();
    let whole = kept.rsplit_once(' ').map_or(kept.as_str(), |(whole, _)| whole);
    format!("{whole} ...")
}
