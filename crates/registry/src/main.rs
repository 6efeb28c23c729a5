//! The program `metier-registry`.

use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Parser, Subcommand, ValueEnum};
use metier_registry::{
    FolderBlobs, NewToken, Registry, RegistryDatabase, SqliteDatabase, TokenScope, http,
};
use tokio::net::TcpListener;

/// A registry of skills: publish, scan, search and download.
///
/// Without options it keeps a SQLite database and a folder of packages in `metier-registry-data` and listens on this machine only. The
/// first start prints a token for its administrator, once.
#[derive(Parser)]
#[command(name = "metier-registry", version, max_term_width = 100)]
struct Arguments {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7718")]
    listen: SocketAddr,
    /// The folder of the database and the packages
    #[arg(
        long,
        value_name = "DIR",
        default_value = "metier-registry-data",
        global = true
    )]
    data: PathBuf,
    /// The database [default: registry.db in the data folder]
    #[arg(long, value_name = "FILE", global = true)]
    database: Option<PathBuf>,
    /// The folder of the packages [default: packages in the data folder]
    #[arg(long, value_name = "DIR")]
    blobs: Option<PathBuf>,
    /// The address that clients use, if a proxy is in front
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// How the log on standard error is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
    #[command(subcommand)]
    command: Option<RegistryCommand>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Subcommand)]
enum RegistryCommand {
    /// Make, list and remove tokens
    #[command(subcommand)]
    Token(TokenCommand),
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Make a token and print it once
    New {
        /// What it permits: admin, publish:NAME, publish:PREFIX* or publish:*
        #[arg(long)]
        scope: TokenScope,
        /// The account that it belongs to
        #[arg(long, default_value = "admin")]
        owner: String,
    },
    /// List the tokens by their ids
    List,
    /// Remove a token by its id
    Remove {
        /// The id, as the list shows it
        id: String,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "a program's own messages")]
fn complain(line: &str) {
    eprintln!("{line}");
}

#[expect(clippy::print_stdout, reason = "a program's own output")]
fn print(line: &str) {
    println!("{line}");
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

type AnyError = Box<dyn std::error::Error>;

fn run(arguments: Arguments) -> Result<(), AnyError> {
    let database = arguments
        .database
        .unwrap_or_else(|| arguments.data.join("registry.db"));
    let database = SqliteDatabase::open(&database)?;
    if let Some(RegistryCommand::Token(command)) = arguments.command {
        return tokens(&database, command);
    }
    if database.tokens()?.is_empty() {
        let token = NewToken::generate("admin", &TokenScope::Admin, &now())?;
        database.add_token(&token.stored)?;
        print(&format!(
            "administrator token (shown only once): {}",
            token.secret
        ));
    }
    let blobs = arguments
        .blobs
        .unwrap_or_else(|| arguments.data.join("packages"));
    let registry = Registry::new(
        Arc::new(database),
        Arc::new(FolderBlobs::open(&blobs)?),
        now,
    );
    log_to_stderr(arguments.log);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(arguments.listen).await?;
        print(&format!("listening on http://{}", listener.local_addr()?));
        http::serve(listener, registry, arguments.public_url, asked_to_end()?).await?;
        tracing::info!("ended");
        Ok(())
    })
}

fn tokens(database: &SqliteDatabase, command: TokenCommand) -> Result<(), AnyError> {
    match command {
        TokenCommand::New { scope, owner } => {
            let token = NewToken::generate(&owner, &scope, &now())?;
            database.add_token(&token.stored)?;
            print(&token.secret);
        }
        TokenCommand::List => {
            for token in database.tokens()? {
                let (id, owner, scope) = (token.id, token.owner, token.scope);
                print(&format!("{id}  {owner}  {scope}  {}", token.created_at));
            }
        }
        TokenCommand::Remove { id } => {
            if !database.remove_token(&id)? {
                return Err(
                    format!("unknown token `{id}`; run `metier-registry token list`").into(),
                );
            }
        }
    }
    Ok(())
}

fn log_to_stderr(format: LogFormat) {
    let builder = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::INFO);
    match format {
        LogFormat::Text => builder.with_ansi(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}

/// Ends at the first SIGTERM or SIGINT. A second one kills the program, as it would without a handler.
fn asked_to_end() -> Result<impl Future<Output = ()>, AnyError> {
    let (mut read, write) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    let (send, receive) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = read.read(&mut [0]);
        let _ = send.send(());
        // The second signal: open requests are not waited for any longer.
        let _ = read.read(&mut [0]);
        std::process::exit(130);
    });
    Ok(async {
        let _ = receive.await;
    })
}
