//! Results + Analysis -> bytes: CSV files, charts, the page. Pure: it returns paths and bytes and knows no files, so the same
//! record gives the same bytes anywhere.

pub mod charts;
pub mod page;
pub mod tables;
pub mod templates;
