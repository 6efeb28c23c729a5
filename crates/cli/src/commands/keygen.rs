//! `metier keygen`

use std::path::PathBuf;

use metier_wire::KeyDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::Tone,
    password,
};

/// Create a key for signing packages
///
/// The secret key is written to a file that only you can read, the public key to FILE.pub for others. Both are in minisign's format. The
/// password is read from the terminal, from `--password-file`, or from the variable METIER_KEY_PASSWORD. An existing key is never overwritten.
#[derive(clap::Args)]
pub(crate) struct KeygenArgs {
    /// The file of the secret key [default: signing.key in the data folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read the password from the first line of this file
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Write the secret key without a password
    #[arg(long, conflicts_with = "password_file")]
    no_password: bool,
    /// Show which files would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &KeygenArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    if args.dry_run {
        let (secret, public) = run.check_key_files(args.output.as_deref())?;
        if output.is_json() {
            output.document(&KeyDocument {
                key: None,
                secret: secret.to_string_lossy().into_owned(),
                public: public.to_string_lossy().into_owned(),
                encrypted: !args.no_password,
            })?;
            return Ok(Exit::Ok);
        }
        output.report(&format!(
            "would write\n  secret key  {}\n  public key  {}\n",
            output.path(&secret),
            output.path(&public)
        ))?;
        return Ok(Exit::Ok);
    }
    let password = match args.no_password {
        true => None,
        false => Some(password::new(run, args.password_file.as_deref())?),
    };
    let key = run.generate_key(args.output.as_deref(), password.as_deref())?;
    if output.is_json() {
        output.document(&KeyDocument {
            key: Some(key.key.to_string()),
            secret: key.secret.to_string_lossy().into_owned(),
            public: key.public.to_string_lossy().into_owned(),
            encrypted: key.is_encrypted,
        })?;
        return Ok(Exit::Ok);
    }
    output.report(&format!(
        "{}\n  secret key  {}\n  public key  {}\n",
        key.key,
        output.path(&key.secret),
        output.path(&key.public)
    ))?;
    if !key.is_encrypted {
        let word = output.paint_talk("note:", Tone::Note);
        output.note(&format!(
            "{word} the secret key has no password: a copy of the file is sufficient to sign as you"
        ));
    }
    Ok(Exit::Ok)
}
