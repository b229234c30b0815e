//! Experiment + history -> Plan. Pure: the same input gives the same plan anywhere.
