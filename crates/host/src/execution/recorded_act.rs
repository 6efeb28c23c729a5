//! Acts that are recorded before they are done.

/// An act with its receipt, before it is done. The [`ActExecutor`](super::ActExecutor) accepts nothing else, so an act without a receipt
/// can't be done. Only the writer knows the type of the receipt; the writer gets it back to complete it.
#[derive(Debug)]
#[must_use = "its receipt has to be completed"]
pub struct RecordedAct<'a, T, R> {
    act: &'a T,
    receipt: R,
}

impl<'a, T, R> RecordedAct<'a, T, R> {
    /// Writes the receipt for the start.
    ///
    /// # Errors
    /// When the receipt can't be written; then the act does not start.
    pub fn write<E>(act: &'a T, write: impl FnOnce(&T) -> Result<R, E>) -> Result<Self, E> {
        let receipt = write(act)?;
        Ok(Self { act, receipt })
    }

    /// The act that was started.
    #[must_use]
    pub fn act(&self) -> &'a T {
        self.act
    }

    /// The act is over: the receipt, to be completed.
    pub fn over(self) -> R {
        self.receipt
    }
}
