//! The real program, from outside: the specifications, and the rule that every command is refused somewhere in them.

#![allow(
    clippy::unwrap_used,
    reason = "a test that can't go on says so by panicking"
)]

mod acts;
mod agent;
mod agent_asking;
mod agent_attacks;
mod agent_chat;
mod agent_compact;
mod agent_crash;
mod agent_hooks;
mod agent_hostile;
mod agent_room;
mod agent_run;
mod agent_terminal;
mod agent_triggers;
mod answers;
mod approved_request;
mod authority;
mod conditions;
mod doors;
mod fenced;
mod first_hour;
mod judged_bytes;
mod lines;
mod live_attacks;
mod live_claude;
mod live_cycles;
mod live_deno;
mod live_ends;
mod live_guests;
mod live_guises;
mod live_hooks;
mod live_hostile;
mod live_imports;
mod live_invoke;
mod live_js;
mod live_matrix;
mod live_native;
mod live_new;
mod live_openclaw;
mod live_opencode;
mod live_plugins;
mod live_room;
mod live_telling;
mod live_wasm;
mod live_word_count;
mod mcp;
mod not_obeyed;
mod own_tests;
mod pages;
mod pipeline;
mod places;
mod protected;
mod protected_links;
mod protected_names;
mod real_model;
mod receipts;
mod refusals;
mod scopes;
mod screening;
mod second_look;
mod secrets;
mod shells;
mod skill_fields;
mod skill_text;
mod spec;
mod stage;
mod survival;
mod terminal;
mod tokens;
mod unscanned;
