//! Arguments → configuration → broker → exit code.

fn main() -> std::process::ExitCode {
    barnabas::cli::run()
}
