//! The network as a skill may see it: approved hosts, checked on the address that is dialled.
