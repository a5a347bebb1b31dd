//! Arguments → configuration → broker → exit code.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
