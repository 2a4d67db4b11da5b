//! A scenario or an asset that is added is noticed; those there are, the compiler watches itself.

fn main() {
    println!("cargo::rerun-if-changed=assets");
    println!("cargo::rerun-if-changed=../../scenarios");
}
