//! # metier-js — hooks in JavaScript and TypeScript
