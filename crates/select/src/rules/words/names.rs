//! Names that are the same in every language: what code is written in and with.
//!
//! Languages whose name is a common word (`go`, `c`, `r`, `d`) are not here; they count where the text has them with a capital and
//! a word like *in* or *to* before it.

/// Languages, frameworks and tools. They say what a task is about, and not yet that something is to be written.
pub(super) const NAMES: &str = "\
    python, rust, java, javascript, typescript, js, ts, golang, kotlin, swift, ruby, php, perl, scala, haskell, \
    elixir, erlang, clojure, lua, c++, c#, f#, .net, dotnet, bash, shell, zsh, powershell, sql, plsql, graphql, \
    html, css, sass, scss, tailwind, solidity, zig, dart, flutter, react, react native, vue, angular, svelte, \
    next.js, nextjs, nuxt, node, node.js, nodejs, deno, express, nestjs, django, flask, fastapi, rails, laravel, \
    spring, spring boot, jquery, webpack, vite, rollup, babel, eslint, prettier, jest, vitest, pytest, junit, \
    cypress, playwright, cargo, npm, pnpm, yarn, pip, maven, gradle, cmake, docker, kubernetes, k8s, helm, \
    terraform, ansible, nginx, redis, memcached, postgres, postgresql, mysql, sqlite, mongodb, kafka, rabbitmq, \
    elasticsearch, prisma, sqlalchemy, hibernate, grpc, protobuf, openapi, swagger, jwt, oauth, oauth2, stripe, \
    pytorch, tensorflow, pandas, numpy, opengl, cuda, wasm, webassembly, vba, awk, sed, jq, regex, yaml, json, \
    toml, xml, localstorage, moment.js, date-fns, axios, lodash, serde, tokio, leetcode, github actions, gitlab \
    ci, jenkins, makefile, dockerfile, tsconfig, asyncio, redux, unity, godot, arduino, websocket, rest, crud, \
    orm, cve, apps script, moment, spa, pwa, ssr";
