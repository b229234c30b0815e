//! Charts over two factors and more, as a caller sees them.

use super::{cell, heading, levels, measure, spread};
use shakedown::model::metric::{Better, Unit};
use shakedown::report::charts::{Axis, Chart, ChartError, Facet, Fonts, HeatMap, InteractionPlot, LevelMark, Panel, Role, Series, Tile};

fn axis(factor: &str, levels: &[&str]) -> Axis {
    Axis { factor: factor.to_owned(), levels: levels.iter().map(ToString::to_string).collect() }
}

/// Every combination but the last of each panel; the first is the baseline, every third one undecided.
fn facet(title: &str, across: usize, down: usize, tilt: f64) -> Facet {
    let tile = |at: usize| {
        let (x, y) = (at % across, at / across);
        let ratio = (tilt * x as f64 - 0.09 * y as f64).exp();
        let baseline = at == 0 && (title.is_empty() || title.ends_with('1'));
        Tile { across: x, down: y, ratio, decided: at % 3 != 1, baseline }
    };
    Facet { title: title.to_owned(), tiles: (0..(across * down).saturating_sub(1).max(1)).map(tile).collect() }
}

fn heat(across: &[&str], down: &[&str], titles: &[&str]) -> HeatMap {
    HeatMap {
        heading: heading("The bridge costs most where there are few CPUs"),
        measure: measure("requests_per_second", Unit::PER_SECOND, Better::Higher),
        against: "cpus=0.5, network=native".to_owned(),
        most: 1.9,
        across: axis("cpus", across),
        down: axis("network", down),
        facets: titles.iter().enumerate().map(|(at, title)| facet(title, across.len(), down.len(), 0.2 - 0.11 * at as f64)).collect(),
    }
}

const CPUS: [&str; 4] = ["0.5", "1", "2", "4"];
const NETWORKS: [&str; 3] = ["native", "host", "bridge"];
const JAPANESE: [&str; 3] = ["ネイティブ（コンテナなし）", "ホストのネットワーク", "ブリッジ、プロキシあり"];

fn numbered(count: usize, word: &str) -> Vec<String> {
    (0..count).map(|at| format!("{word}{at}")).collect()
}

/// A panel of lines over the levels, each line lower by this share per level than the one before it.
fn panel(title: &str, names: &[&str], levels: usize, tilt: f64) -> Panel {
    let line = |(at, name): (usize, &&str)| Series {
        label: (*name).to_owned(),
        role: if at == 0 { Role::Baseline } else { Role::Plain },
        hue: None,
        cells: (0..levels)
            .map(|level| {
                let centre = 9000.0 * 1.8f64.powi(level as i32) * (1.0 - 0.05 * at as f64) * (1.0 - tilt * at as f64).powi(level as i32);
                let mut cell = cell(level, &spread(centre, 10, 0.04));
                cell.points[3].tainted = level == 1;
                cell
            })
            .collect(),
    };
    Panel { title: title.to_owned(), series: names.iter().enumerate().map(line).collect() }
}

fn interaction(panels: Vec<Panel>) -> InteractionPlot {
    InteractionPlot {
        heading: heading("The bridge costs most where there are many CPUs"),
        measure: measure("requests_per_second", Unit::PER_SECOND, Better::Higher),
        factor: "cpus".to_owned(),
        levels: levels(&CPUS),
        numeric: true,
        panels,
    }
}

fn categories(texts: &[&str], panels: Vec<Panel>) -> InteractionPlot {
    let mark = |text: &&str| LevelMark { text: (*text).to_owned(), value: f64::NAN, remark: String::new() };
    InteractionPlot { factor: "network".to_owned(), levels: texts.iter().map(mark).collect(), numeric: false, ..interaction(panels) }
}

/// Pictures to look at.
pub(super) fn drawn(fonts: &Fonts) -> Vec<(&'static str, Result<Vec<u8>, ChartError>)> {
    let many = numbered(16, "");
    let forty = numbered(40, "innodb_flush_method=O_DIRECT, level ");
    let as_texts = |texts: &[String]| -> Vec<&'static str> { texts.iter().map(|text| &*text.clone().leak()).collect() };
    let mut japanese = heat(&CPUS, &JAPANESE, &["ドライバー=1", "ドライバー=overlay2"]);
    japanese.down.factor = "ネットワーク".to_owned();
    let mut turned = heat(&JAPANESE, &CPUS, &[""]);
    turned.across.factor = "ネットワーク".to_owned();
    let six = [
        "driver=overlay2, pool=1",
        "driver=overlay2, pool=2",
        "driver=vfs, pool=128m",
        "driver=vfs, pool=2",
        "driver=zfs, pool=64m",
        "driver=zfs",
    ];
    let equal = |mut chart: HeatMap| {
        chart.facets[0].tiles.iter_mut().for_each(|tile| tile.ratio = 1.0);
        HeatMap { most: 1.0, ..chart }
    };
    let eight: Vec<&str> = vec!["native", "host", "bridge", "bridge without proxy", "macvlan", "ipvlan", "overlay", "none, over a socket"];
    let flat = |mut chart: InteractionPlot| {
        for cell in chart.panels.iter_mut().flat_map(|panel| &mut panel.series).flat_map(|series| &mut series.cells) {
            cell.points.iter_mut().for_each(|point| point.value = 5.0);
            cell.median = Some(5.0);
        }
        chart
    };
    vec![
        ("heat", heat(&CPUS, &NETWORKS, &[""]).render(fonts)),
        ("heat-two", heat(&CPUS, &NETWORKS, &["proxy=1", "proxy=0"]).render(fonts)),
        ("heat-six", heat(&CPUS, &NETWORKS, &six).render(fonts)),
        ("heat-japanese", japanese.render(fonts)),
        ("heat-turned", turned.render(fonts)),
        ("heat-large", heat(&as_texts(&many), &as_texts(&forty), &[""]).render(fonts)),
        ("heat-one", heat(&["1"], &["a"], &[""]).render(fonts)),
        ("heat-equal", equal(heat(&CPUS, &NETWORKS, &[""])).render(fonts)),
        ("interaction", interaction(vec![panel("", &NETWORKS, 4, 0.05)]).render(fonts)),
        ("interaction-eight", interaction(vec![panel("", &eight, 4, 0.01)]).render(fonts)),
        ("interaction-six", interaction(six.iter().map(|title| panel(title, &NETWORKS, 4, 0.1)).collect()).render(fonts)),
        (
            "interaction-japanese",
            categories(&JAPANESE, vec![panel("", &["ホスト", "ブリッジ"], 3, 0.05), panel("b=2", &JAPANESE, 3, 0.1)]).render(fonts),
        ),
        ("interaction-equal", flat(categories(&NETWORKS, vec![panel("", &["on", "off"], 3, 0.0)])).render(fonts)),
        ("interaction-one", categories(&["a"], vec![panel("", &["on"], 1, 0.0)]).render(fonts)),
    ]
}

#[test]
fn charts_of_factors_are_the_same_twice() {
    let maps = || heat(&CPUS, &NETWORKS, &["proxy=1", "proxy=0"]).render(&Fonts::embedded()).expect("drawn");
    assert!(maps() == maps());
    let lines = || interaction(vec![panel("", &NETWORKS, 4, 0.05)]).render(&Fonts::embedded()).expect("drawn");
    assert!(lines() == lines());
    assert!(maps().len() < 100_000 && lines().len() < 150_000, "{} {}", maps().len(), lines().len());
}

#[test]
fn what_has_no_room_or_no_level_is_refused() {
    let fonts = Fonts::embedded();
    let many = numbered(41, "");
    let texts = |count: usize| many.iter().take(count).map(String::as_str).collect::<Vec<_>>();
    let mut stray = heat(&CPUS, &NETWORKS, &[""]);
    stray.facets[0].tiles[0].down = 3;
    let maps = [
        (heat(&texts(17), &NETWORKS, &[""]), "17 levels of `cpus` in one chart; at most 16 can be read, so leave some out"),
        (heat(&CPUS, &texts(41), &[""]), "41 levels of `network` in one chart; at most 40 can be read, so leave some out"),
        (heat(&CPUS, &NETWORKS, &["x"; 7]), "7 panels in one chart; at most 6 can be read, so put them on several"),
        (heat(&CPUS, &texts(31), &["x"; 2]), "62 rows in one chart; at most 60 can be read, so split it by a factor"),
        (stray, "series `` names level 3, but the axis has 3 levels"),
    ];
    for (chart, said) in maps {
        assert_eq!(chart.render(&fonts).expect_err(said).to_string(), said);
    }
    let mut stray = interaction(vec![panel("", &NETWORKS, 4, 0.0)]);
    stray.levels.truncate(3);
    let plots = [
        (interaction(vec![panel("", &texts(9), 4, 0.0)]), "9 series in one chart; at most 8 can be told apart, so split it by a factor"),
        (interaction(vec![panel("", &NETWORKS, 4, 0.0); 7]), "7 panels in one chart; at most 6 can be read, so put them on several"),
        (categories(&texts(25), vec![]), "25 levels of `network` in one chart; at most 24 can be read, so leave some out"),
        (stray, "series `native` names level 3, but the axis has 3 levels"),
    ];
    for (chart, said) in plots {
        assert_eq!(chart.render(&fonts).expect_err(said).to_string(), said);
    }
    assert_eq!([1, 10, 20, 40, 100].map(HeatMap::panels_per_sheet), [6, 6, 3, 1, 1]);
}
