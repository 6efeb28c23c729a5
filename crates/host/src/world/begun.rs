//! Nothing is done that was not written down before.

/// Something that is about to be done, with the receipt that says so. The [`World`](super::World) takes nothing else, so what can't
/// be written down can't be done. What the receipt is, only its writer knows; it is taken back to be completed.
#[derive(Debug)]
#[must_use = "what began is over some time, and its receipt says how"]
pub struct Begun<'a, T, R> {
    what: &'a T,
    receipt: R,
}

impl<'a, T, R> Begun<'a, T, R> {
    /// Writes down that it begins.
    ///
    /// # Errors
    /// When it can't be written down; then it does not begin.
    pub fn write<E>(what: &'a T, write: impl FnOnce(&T) -> Result<R, E>) -> Result<Self, E> {
        let receipt = write(what)?;
        Ok(Self { what, receipt })
    }

    /// The act that began.
    #[must_use]
    pub fn what(&self) -> &'a T {
        self.what
    }

    /// It is over: the receipt, to be completed.
    pub fn over(self) -> R {
        self.receipt
    }
}
