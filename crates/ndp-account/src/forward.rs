//! Questions that a wrapper leaves to what it wraps.

/// Methods that pass their question on: `forward! { self.account => fn node_count(&self) -> usize; }`. A
/// wrapper lists what it passes on; a method with a default that is not in the list keeps that default.
#[doc(hidden)]
#[macro_export]
macro_rules! forward {
    ($to:expr => $(fn $method:ident(&$this:ident $(, $name:ident: $kind:ty)* $(,)?) -> $answer:ty;)+) => {
        $(fn $method(&$this, $($name: $kind),*) -> $answer { $to.$method($($name),*) })+
    };
}
pub(crate) use forward;
