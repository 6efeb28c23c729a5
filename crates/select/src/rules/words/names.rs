//! Names that are the same in every language: programming languages, frameworks and tools.
//!
//! Languages whose name is a common word (`go`, `c`, `r`, `d`) are not included; they are recognised with a capital
//! after a word such as *in* or *to*.

/// Languages, frameworks and tools. They are the topic of a task, but don't show that something is to be written.
pub(super) const NAMES: &str = "\
    .net, angular, ansible, apps script, arduino, asyncio, awk, axios, babel, bash, c#, c++, cargo, clojure, \
    cmake, crud, css, cuda, cve, cypress, dart, date-fns, deno, django, docker, dockerfile, dotnet, \
    elasticsearch, elixir, erlang, eslint, express, f#, fastapi, flask, flutter, github actions, gitlab ci, \
    godot, golang, gradle, graphql, grpc, haskell, helm, hibernate, html, java, javascript, jenkins, jest, jq, \
    jquery, js, json, junit, jwt, k8s, kafka, kotlin, kubernetes, laravel, leetcode, localstorage, lodash, \
    lua, makefile, maven, memcached, moment, moment.js, mongodb, mysql, nestjs, next.js, nextjs, nginx, node, \
    node.js, nodejs, npm, numpy, nuxt, oauth, oauth2, openapi, opengl, orm, pandas, perl, php, pip, \
    playwright, plsql, pnpm, postgres, postgresql, powershell, prettier, prisma, protobuf, pwa, pytest, \
    python, pytorch, rabbitmq, rails, react, react native, redis, redux, regex, rest, rollup, ruby, rust, \
    sass, scala, scss, sed, serde, shell, solidity, spa, spring, spring boot, sql, sqlalchemy, sqlite, ssr, \
    stripe, svelte, swagger, swift, tailwind, tensorflow, terraform, tokio, toml, ts, tsconfig, typescript, \
    unity, vba, vite, vitest, vue, wasm, webassembly, webpack, websocket, xml, yaml, yarn, zig, zsh";
