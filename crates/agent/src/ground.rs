//! The environment of a session: it opens runtimes and knows the models.
//!
//! A session has its own runtime, and so has each sub-agent, which runs on another thread. So the caller provides a value that can
//! open any number of them.

use std::sync::Arc;

use metier_config::Config;
use metier_runtime::{Inventory, live};

use crate::{Effort, Model, ModelName, Price, Report};

/// Opens runtimes and finds models. Several threads ask at once.
pub trait Ground: Send + Sync {
    /// The skills of this run. All sessions see the same ones.
    fn inventory(&self) -> &Arc<Inventory>;

    /// What the user decided.
    fn config(&self) -> &Config;

    /// The files of the project, relative to its root and with forward slashes: triggers match them.
    fn project_files(&self) -> &[String] {
        &[]
    }

    /// Opens a runtime for the session of this name. Skills may ask `voice`.
    ///
    /// # Errors
    /// When it can't be opened.
    fn open(&self, id: &str, voice: Arc<dyn live::Model>) -> Result<live::Runtime, Report>;

    /// The model of a name, or the one that was configured.
    ///
    /// # Errors
    /// When there is none, or nothing to show who asks.
    fn model(&self, name: Option<&str>) -> Result<Chosen, Report>;

    /// What time it is, for people.
    fn now(&self) -> String;

    /// A name that no session had before.
    ///
    /// # Errors
    /// When this machine has no source of randomness.
    fn fresh_id(&self) -> Result<String, Report>;
}

/// A model, and what is known of it.
#[derive(Clone)]
pub struct Chosen {
    /// The model that answers.
    pub model: Arc<dyn Model>,
    /// Name of the model, as `provider/model`.
    pub name: ModelName,
    /// How hard it thinks, if that is configured.
    pub effort: Option<Effort>,
    /// The price of its tokens, if that is configured.
    pub price: Option<Price>,
}

/// The model of a name. A name without a provider means the provider of the session's model.
///
/// # Errors
/// When there is no such model, or no key for it.
pub(crate) fn model_beside(
    ground: &dyn Ground,
    name: &str,
    session: &ModelName,
) -> Result<Chosen, Report> {
    let name = ModelName::parse(name, Some(session.provider));
    let name = name.map_err(|error| Report::from(&error))?;
    ground.model(Some(&name.to_string()))
}
