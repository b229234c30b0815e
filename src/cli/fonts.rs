//! The system's fonts for characters that the embedded one lacks.

use crate::report::charts::Fonts;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders where systems keep fonts.
const FOLDERS: &[&str] = &["/usr/share/fonts", "/usr/local/share/fonts"];
/// Names of faces with East Asian characters, the best first.
const EAST_ASIAN: &[&str] = &[
    "notosanscjk-regular",
    "notosanscjkjp-regular",
    "notosansjp",
    "sourcehansans",
    "ipaexg",
    "ipag",
    "fonts-japanese-gothic",
    "takaogothic",
    "vl-gothic",
    "droidsansfallback",
    "wqy",
    "unifont",
];

/// Fonts that can draw `texts`: the embedded ones, and the system's where characters are missing. Who lacks such a font is told.
pub fn for_texts(texts: &[String]) -> Fonts {
    let mut fonts = Fonts::embedded();
    let all = texts.concat();
    if fonts.missing(&all).is_empty() {
        return fonts;
    }
    for path in candidates() {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if let Ok(with) = fonts.clone().with_fallback(Arc::from(bytes), 0) {
            fonts = with;
            if fonts.missing(&all).is_empty() {
                return fonts;
            }
        }
    }
    let missing: String = fonts.missing(&all).into_iter().take(10).collect();
    super::talk::note(format!("warning: no font on this machine has {missing}: charts show boxes (install fonts-noto-cjk)"));
    fonts
}

/// Font files that may help, the best first.
fn candidates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS.iter().map(Path::new).filter(|folder| folder.is_dir()) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            let is_font = [".ttf", ".ttc", ".otf"].iter().any(|end| name.ends_with(end));
            if let Some(rank) = EAST_ASIAN.iter().position(|known| name.starts_with(known)).filter(|_| is_font) {
                found.push((rank, entry.into_path()));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}
