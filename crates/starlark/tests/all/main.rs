//! A guest and a host in one process: the host is a script, the line between them a buffer.

mod answers;
mod builtins;
mod figures;
mod hostile;
mod loading;
mod outside;
mod session;
