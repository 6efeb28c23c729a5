//! The floor of `cargo xtask bench serve`: a bare server that returns the bytes of a file, and does nothing else.
//!
//! `bare FILE` prints its address and serves until it is killed.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that is measured"
)]

use std::io::Write as _;

use axum::{Router, body::Bytes, http::header, routing::get};

fn main() {
    let file = std::env::args().nth(1).unwrap();
    let page = Bytes::from(std::fs::read(file).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        std::io::stdout().flush().unwrap();
        let answer = move || {
            let page = page.clone();
            async move { ([(header::CONTENT_TYPE, "application/json")], page) }
        };
        let router = Router::new().route("/api/v1/skills", get(answer));
        axum::serve(listener, router).await.unwrap();
    });
}
