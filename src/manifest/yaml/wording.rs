//! The parser's syntax errors in our words.

use crate::model::diagnostic::Diagnostic;
use crate::model::tree::Span;
use serde_yaml::granit_parser::{ErrorKind, ScanError};

/// A syntax error with its place.
pub(super) fn syntax(text: &str, error: &ScanError) -> Diagnostic {
    let marker = error.marker();
    let start = marker.byte_offset().unwrap_or(0).min(text.len());
    let len = text.get(start..).and_then(|rest| rest.chars().next()).filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let span = Span { line: small(marker.line()).max(1), column: small(marker.col() + 1), start: small(start), len: small(len) };
    let (message, mut help) = words(error.kind());
    let line = text.get(..start).unwrap_or("").rsplit('\n').next().unwrap_or("");
    if [": {{", "- {{", "[{{"].iter().any(|opening| line.contains(opening)) {
        help = "put a value that begins with `{{` in quotes";
    }
    let problem = Diagnostic::error(span, message);
    if help.is_empty() { problem } else { problem.help(help) }
}

/// What is wrong, and what to do about it; the second is empty when the first says it all.
fn words(kind: &ErrorKind) -> (String, &'static str) {
    use ErrorKind as E;
    let say = |message: &str, help: &'static str| (message.to_owned(), help);
    match kind {
        E::TabNotAllowed
        | E::TabInBlockIndentation
        | E::TabAtBlockScalarStart
        | E::TabInIndentation
        | E::TabInPlainScalar
        | E::InvalidBlockEntryWhitespace
        | E::InvalidMappingValueWhitespace => say("a tab cannot stand here", "indent with spaces"),
        E::UnclosedFlowCollection { open } => (format!("this `{open}` is never closed"), ""),
        E::MismatchedFlowCollectionEnd { open, close } => (format!("`{open}` is closed by `{close}`"), ""),
        E::MisplacedFlowCollectionEnd => say("this closes nothing that is open", ""),
        E::UnexpectedEofFlowSequence | E::ExpectedFlowSequenceSeparator => say("expected `,` or `]`", ""),
        E::UnexpectedEofFlowMapping | E::UnexpectedEofImplicitFlowMapping | E::ExpectedFlowMappingSeparator => {
            say("expected `,` or `}`", "quote a value that holds `{`, `}`, `[`, `]` or `,`")
        }
        E::UnclosedQuotedScalar => say("this quote is never closed", ""),
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => {
            say("text follows the closing quote", "quote the whole value; inside single quotes a quote is written twice")
        }
        E::UnexpectedCharacter { character } if character.is_control() => {
            (format!("the control character U+{:04X} cannot stand here", u32::from(*character)), "")
        }
        E::UnexpectedCharacter { character } => (format!("a value cannot begin with `{character}`"), "put the value in quotes"),
        E::SimpleKeyExpected | E::InvalidSimpleKey => say("expected `:` after this key", "a key stands on one line, with `: ` behind it"),
        E::MappingValueNotAllowed | E::InvalidColonPlacement | E::FlowMappingValueAdjacentCollection => {
            say("`:` cannot stand here", "quote a value that holds `: `, and give the keys of a mapping the same indentation")
        }
        E::MappingKeyNotAllowed | E::ExpectedBlockMappingKey | E::UnexpectedEofBlockMapping => {
            say("expected a key here", "give the keys of a mapping the same indentation")
        }
        E::BlockSequenceEntryNotAllowed | E::BlockEntryInFlowCollection => {
            say("a list item `- ` cannot stand here", "begin a list on its own line, or write it as `[a, b]`")
        }
        E::ExpectedBlockSequenceEntry | E::UnexpectedEofBlockSequence => {
            say("expected a list item `- ` here", "give the items of a list the same indentation")
        }
        E::InvalidIndentation
        | E::InvalidBlockScalarIndent
        | E::ZeroBlockScalarIndent
        | E::InvalidQuotedScalarIndent
        | E::InvalidFlowScalarIndent => say("the indentation fits nothing above", ""),
        E::UnknownQuotedScalarEscape
        | E::InvalidQuotedScalarHexEscape
        | E::InvalidLowSurrogateHexEscape
        | E::InvalidLowSurrogate
        | E::MissingLowSurrogate
        | E::UnpairedLowSurrogate
        | E::InvalidUnicodeEscape => say("no such escape in double quotes", "write `\\\\` for a backslash, or use single quotes"),
        E::RecursionLimitExceeded => (format!("nested deeper than {} levels", super::MAX_DEPTH), ""),
        E::BomInsideDocument => say("a byte-order mark stands inside the text", ""),
        E::InvalidDocumentEnd | E::DocumentIndicatorInQuotedScalar => say("a document marker cannot stand here", ""),
        E::MissingAnchorOrAliasName => say("`&` or `*` without a name", "quote a value that begins with `*` or `&`"),
        E::CommentInterceptedScalar => say("a comment interrupts the value", ""),
        E::CommentNotSeparated => say("`#` needs a space before it", "or quote the value that holds it"),
        E::ExpectedNodeContent => say("expected a value here", ""),
        _ => say("this is not YAML", ""),
    }
}
