//! `metier sign`

use std::path::PathBuf;

use metier::distribution::signing::SignOptions;

use crate::{
    cli_run::CliRun,
    commands::verify_signature::document,
    failure::{Exit, Failure},
    output::one_line,
    password,
};

/// Sign a package
///
/// The signature is written to FILE.minisig, in the format of minisign. It covers the bytes of the package, the name and version of the skill
/// and the digest of its files. Your key becomes the known signer of the skill on this machine, unless another key already is.
#[derive(clap::Args)]
pub(crate) struct SignArgs {
    /// The package
    #[arg(value_name = "FILE.skill")]
    file: PathBuf,
    /// The file of the secret key [default: the one that `metier keygen` created]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Read the password of the key from the first line of this file
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Replace an existing signature
    #[arg(long)]
    force: bool,
    /// Sign and check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &SignArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    let options = SignOptions {
        key: args.key.clone(),
        replace: args.force,
        dry_run: args.dry_run,
    };
    let signed = run.sign_package(&args.file, &options, &mut || {
        password::existing(run, args.password_file.as_deref())
    })?;
    if output.is_json() {
        let mut document = document(&signed);
        document.written &= !args.dry_run;
        output.document(&document)?;
        return Ok(Exit::Ok);
    }
    let did = match (signed.is_written, args.dry_run) {
        (true, false) => "signed",
        (true, true) => "would sign",
        (false, _) => "already signed",
    };
    let package = &signed.package;
    let title = one_line(&format!("{} {}", package.name, package.version));
    output.report(&format!(
        "{did} {title} → {}\n  key  {}\n",
        output.path(&signed.signature),
        signed.key
    ))?;
    Ok(Exit::Ok)
}
