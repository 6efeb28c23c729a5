//! Downloads and sites.
