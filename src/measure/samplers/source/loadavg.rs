//! `/proc/loadavg`: who wants to run.

/// What it tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Tasks that wanted to run, averaged over a minute.
    pub minute: f64,
    /// Tasks that want to run now, whoever reads this among them; none when that part is torn.
    pub runnable: Option<u32>,
}

impl Load {
    /// Reads the text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let minute = words.next()?.parse::<f64>().ok()?;
        let runnable = words.nth(2)?.split('/').next().and_then(|running| running.parse().ok());
        Some(Self { minute, runnable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_and_now() {
        assert_eq!(Load::parse("0.51 0.21 0.15 3/103 7787\n"), Some(Load { minute: 0.51, runnable: Some(3) }));
        assert_eq!(Load::parse("0.51 0.21 0.15 x/103 7787\n"), Some(Load { minute: 0.51, runnable: None }));
        assert_eq!((Load::parse("much 0.21 0.15 3/103\n"), Load::parse("0.51"), Load::parse("")), (None, None, None));
    }
}
