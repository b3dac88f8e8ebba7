use crate::queue::classes::Classes;

/// Strict priority without interruption: a class a level, 0 the highest; each is served only when no higher one waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priority;

impl Priority {
    pub(super) fn class(self, level: u8) -> usize {
        level.into()
    }

    pub(super) fn next(self, waiting: &Classes) -> Option<usize> {
        waiting.highest()
    }
}
