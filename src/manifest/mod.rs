//! Manifest text -> Experiment, or every problem at once. Pure: the text and the templates beside it come in as strings.
