//! Setting text into limited room: breaking lines, shortening, and keeping labels apart.

use super::canvas::Hand;
use super::font::Fonts;

const ELLIPSIS: char = '…';

/// Breaks `text` into at most `limit` lines no wider than `width`; what does not fit ends in an ellipsis.
///
/// Lines break at spaces, after `,`, `/`, `;`, between characters of scripts without spaces, else after `=`,
/// `_`, `-`, else anywhere in a word that is wider than a line.
pub(super) fn wrap(fonts: &Fonts, text: &str, hand: Hand, width: f32, limit: usize) -> Vec<String> {
    let fits = |line: &str| fonts.width(line.trim_end(), hand.size, hand.weight) <= width;
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.trim().chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    while !rest.is_empty() && lines.len() < limit {
        let all: String = rest.iter().collect();
        if fits(&all) {
            lines.push(all.trim_end().to_owned());
            return lines;
        }
        if lines.len() + 1 == limit {
            lines.push(cut(fonts, &all, hand, width));
            break;
        }
        let longest = longest_prefix(&rest, |prefix| fits(prefix)).max(1);
        let good = (longest / 3 + 1..=longest).rev().find(|at| may_break(&rest, *at, ",/;"));
        let at = good.or_else(|| (1..=longest).rev().find(|at| may_break(&rest, *at, ",/;=_-"))).unwrap_or(longest);
        lines.push(rest.drain(..at).collect::<String>().trim_end().to_owned());
        let blank = rest.iter().take_while(|c| **c == ' ').count();
        rest.drain(..blank);
    }
    lines
}

/// The number of characters of the longest prefix that fits; text grows wider with every character.
fn longest_prefix(text: &[char], fits: impl Fn(&str) -> bool) -> usize {
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&text[..middle].iter().collect::<String>()) { low = middle } else { high = middle - 1 }
    }
    low
}

fn may_break(text: &[char], at: usize, signs: &str) -> bool {
    let Some(after) = text.get(at) else { return true };
    let before = text[at - 1];
    let closing = "、。，．）」』】！？・ー".contains(*after);
    *after == ' ' || before == ' ' || signs.contains(before) || ((ideographic(before) || ideographic(*after)) && !closing)
}

/// Scripts that break between any two characters.
fn ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// The beginning of `text` with an ellipsis, no wider than `width`; unchanged where it fits.
fn cut(fonts: &Fonts, text: &str, hand: Hand, width: f32) -> String {
    let fits = |line: &str| fonts.width(line, hand.size, hand.weight) <= width;
    if fits(text.trim_end()) {
        return text.trim_end().to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let kept = longest_prefix(&chars, |prefix| fits(&format!("{}{ELLIPSIS}", prefix.trim_end())));
    format!("{}{ELLIPSIS}", chars[..kept].iter().collect::<String>().trim_end())
}

/// `text` without its middle, no wider than `width`: both ends of a variant's name tell it apart. Unchanged where it fits.
pub(super) fn shorten(fonts: &Fonts, text: &str, hand: Hand, width: f32) -> String {
    let fits = |line: &str| fonts.width(line, hand.size, hand.weight) <= width;
    if fits(text) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let without = |kept: usize| -> String {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        chars[..head].iter().chain([&ELLIPSIS]).chain(&chars[chars.len() - tail..]).collect()
    };
    let (mut low, mut high) = (0, chars.len().saturating_sub(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&without(middle)) { low = middle } else { high = middle - 1 }
    }
    without(low)
}

/// Moves labels with these wished centres and heights as little as needed so that none overlap and all lie between `from`
/// and `to`. The order of the wishes is kept. Where the room is too small for all, every label gets less of it.
pub(super) fn keep_apart(labels: &[(f32, f32)], from: f32, to: f32) -> Vec<f32> {
    let total: f32 = labels.iter().map(|(_, height)| height).sum();
    let squeeze = ((to - from).max(0.0) / total.max(f32::MIN_POSITIVE)).min(1.0);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| labels[*a].0.total_cmp(&labels[*b].0).then(a.cmp(b)));
    // Without the room that the labels above it take, a label's top may be anywhere not above its predecessor's: the
    // least movement is then the least-squares monotone fit, found by pooling neighbours that are out of order.
    let mut above = 0.0;
    let mut tops = Vec::new();
    let mut pools: Vec<(f32, usize)> = Vec::new();
    for index in &order {
        let (wish, height) = (labels[*index].0, labels[*index].1 * squeeze);
        tops.push((above, height));
        pools.push((wish - height / 2.0 - above, 1));
        above += height;
        while let [.., (first, a), (second, b)] = pools[..] {
            if second >= first {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push(((first * a as f32 + second * b as f32) / (a + b) as f32, a + b));
        }
    }
    let fitted = pools.iter().flat_map(|(place, count)| std::iter::repeat_n(*place, *count));
    let mut centres = vec![0.0; labels.len()];
    for ((index, (above_it, height)), place) in order.into_iter().zip(tops).zip(fitted) {
        centres[index] = place.min(to - above).max(from) + above_it + height / 2.0;
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::palette::INK;

    fn hand() -> Hand {
        Hand::new(16.0, INK)
    }

    #[test]
    fn lines_break_where_a_reader_would_and_never_exceed_the_room() {
        let fonts = Fonts::embedded();
        let set = |text, width, limit| wrap(&fonts, text, hand(), width, limit);
        assert_eq!(set("one line", 400.0, 3), ["one line"]);
        assert_eq!(set("", 400.0, 3), Vec::<String>::new());
        assert_eq!(set("alpha beta", 60.0, 3), ["alpha", "beta"]);
        assert_eq!(set("cpus=1,network=bridge", 100.0, 3), ["cpus=1,", "network=", "bridge"]);
        let texts = ["a very long title about the cost of networks", "Unbreakablewordofgreatlength", "性能とネットワークの費用", "x y\nz"];
        for text in texts {
            for width in [5.0, 30.0, 80.0, 200.0] {
                let lines = set(text, width, 3);
                assert!(lines.len() <= 3 && !lines.is_empty());
                for line in &lines {
                    let wide = fonts.width(line, 16.0, hand().weight);
                    assert!(wide <= width || line.chars().count() <= 1, "{line:?} is {wide} wide in {width}");
                }
            }
        }
        assert!(set("a very long title about the cost", 60.0, 2)[1].ends_with('…'));
    }

    #[test]
    fn a_shortened_name_keeps_both_ends() {
        let fonts = Fonts::embedded();
        let short = shorten(&fonts, "network=bridge,userland_proxy=true", hand(), 120.0);
        assert!(short.starts_with("netw") && short.ends_with("true") && short.contains('…'), "{short}");
        assert!(fonts.width(&short, 16.0, hand().weight) <= 120.0);
        assert_eq!(shorten(&fonts, "short", hand(), 120.0), "short");
        assert_eq!(shorten(&fonts, "abc", hand(), 0.0), "…");
    }

    #[test]
    fn labels_are_moved_apart_as_little_as_needed() {
        let placed = |wishes: &[f32], to| keep_apart(&wishes.iter().map(|wish| (*wish, 20.0)).collect::<Vec<_>>(), 0.0, to);
        assert_eq!(placed(&[10.0, 50.0], 100.0), [10.0, 50.0]);
        assert_eq!(placed(&[50.0, 50.0], 100.0), [40.0, 60.0]);
        assert_eq!(placed(&[60.0, 50.0, 40.0], 100.0), [70.0, 50.0, 30.0]);
        assert_eq!(placed(&[0.0, 0.0], 100.0), [10.0, 30.0]);
        assert_eq!(placed(&[100.0, 100.0], 100.0), [70.0, 90.0]);
        assert_eq!(placed(&[0.0; 4], 40.0), [5.0, 15.0, 25.0, 35.0]);
        assert_eq!(placed(&[], 60.0), Vec::<f32>::new());
        assert_eq!(keep_apart(&[(50.0, 20.0), (50.0, 40.0)], 0.0, 100.0), [35.0, 65.0]);
    }
}
