//! Charts: one file per kind, drawn with plotters over an anti-aliased raster of our own.
