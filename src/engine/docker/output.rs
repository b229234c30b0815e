//! What a unit wrote, or a command in it: raw bytes of each stream, the middle left out above the cap.

use super::failed;
use crate::engine::{Captured, EngineError, OUTPUT_CAP, Output};
use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::query_parameters::LogsOptionsBuilder;
use futures_util::{Stream, StreamExt};
use std::collections::VecDeque;

/// Reads both streams of the container `id`, so far when it still runs.
pub(super) async fn read(client: &bollard::Docker, id: &str) -> Result<Output, EngineError> {
    let options = LogsOptionsBuilder::default().stdout(true).stderr(true).follow(false).tail("all").build();
    collect(client.logs(id, Some(options)), "read the output").await
}

/// Reads `frames` to their end, for `operation`.
pub(super) async fn collect(frames: impl Stream<Item = Result<LogOutput, Error>>, operation: &str) -> Result<Output, EngineError> {
    let mut frames = std::pin::pin!(frames);
    let (mut stdout, mut stderr) = (HeadAndTail::new(OUTPUT_CAP), HeadAndTail::new(OUTPUT_CAP));
    while let Some(frame) = frames.next().await {
        match frame.map_err(|error| failed(operation, &error))? {
            LogOutput::StdOut { message } | LogOutput::StdIn { message } => stdout.push(&message),
            LogOutput::StdErr { message } => stderr.push(&message),
            // Units have no terminal, so every frame says its stream: bytes without one are the rest of a torn frame.
            LogOutput::Console { .. } => {
                return Err(EngineError::Call { operation: operation.to_owned(), reason: "it ended in the middle of a frame".into() });
            }
        }
    }
    Ok(Output { stdout: stdout.captured(), stderr: stderr.captured() })
}

/// Keeps the first and the last half of `cap` bytes, and counts all.
struct HeadAndTail {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl HeadAndTail {
    fn new(cap: usize) -> Self {
        Self { half: cap / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    fn captured(mut self) -> Captured {
        self.head.extend(self.tail);
        Captured { bytes: self.head, total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_half_are_kept_and_all_is_counted() {
        let table: [(&[&str], &str, u64); 6] = [
            (&[], "", 0),
            (&["abc"], "abc", 3),
            (&["abcdef", "gh"], "abcdefgh", 8),
            (&["abcdefgh", "i"], "abcdfghi", 9),
            (&["abcdefghijklmnop"], "abcdmnop", 16),
            (&["a", "bcde", "fghij", "k"], "abcdhijk", 11),
        ];
        for (pieces, kept, total) in table {
            let mut capture = HeadAndTail::new(8);
            pieces.iter().for_each(|piece| capture.push(piece.as_bytes()));
            let captured = capture.captured();
            assert_eq!((String::from_utf8_lossy(&captured.bytes).as_ref(), captured.total), (kept, total), "{pieces:?}");
        }
    }
}
