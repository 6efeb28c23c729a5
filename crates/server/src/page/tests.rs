//! Views
