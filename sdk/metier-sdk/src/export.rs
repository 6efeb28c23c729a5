//! `export_skill!`: one macro for every form in which a plugin is built. The modules of the forms have the details.

/// Makes a library of a [`Plugin`](crate::guest::Plugin) that is [`Default`], or a component where the target is WebAssembly.
///
/// In Cargo.toml the crate has `[lib] crate-type = ["cdylib"]`. The same type is a program with
/// [`Skill::of`](crate::guest::Skill::of) and [`serve`](crate::guest::Skill::serve).
#[macro_export]
macro_rules! export_skill {
    ($plugin:ty) => {
        #[cfg(target_family = "wasm")]
        $crate::export_component!($plugin);

        #[cfg(not(target_family = "wasm"))]
        const _: () = {
            #[unsafe(no_mangle)]
            extern "C" fn metier_skill_v1() -> *const $crate::native::Table {
                $crate::native::table::<$plugin>()
            }
        };
    };
}
