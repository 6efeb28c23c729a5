//! The room in which a child runs: what it can read, write, reach and use up.
