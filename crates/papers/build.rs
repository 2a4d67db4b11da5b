//! A recipe or trace that is added is noticed; those there are, the compiler watches itself.

fn main() {
    println!("cargo::rerun-if-changed=../../papers");
    println!("cargo::rerun-if-changed=../../scenarios/traces");
}
