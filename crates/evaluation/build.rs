//! A suite that is added is noticed; those there are, the compiler watches itself.

fn main() {
    println!("cargo::rerun-if-changed=../../suites");
}
