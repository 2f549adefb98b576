//! The checker in Python, in processes that check one file after the other.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A running checker. It reads a number of lines and then the lines, and answers with the last line that it
/// prints.
struct Second {
    /// The process ends when its input is closed.
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Running checkers that no thread uses at the moment.
static IDLE: Mutex<Vec<Second>> = Mutex::new(Vec::new());

const LOOP: &str = "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import ndp_check
getattr(sys, 'set_int_max_str_digits', lambda digits: None)(0)
for count in iter(sys.stdin.readline, ''):
    said = []
    ndp_check.check([sys.stdin.readline() for _ in range(int(count))], True, said.append)
    print(said[-1], flush=True)
";

/// The verdict of the checker on a file.
pub(super) fn verdict(lines: &[String]) -> io::Result<String> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut second = idle.map_or_else(Second::start, Ok)?;
    write!(second.input, "{}\n{}\n", lines.len(), lines.join("\n"))?;
    second.input.flush()?;
    let mut said = String::new();
    if second.output.read_line(&mut said)? == 0 {
        return Err(io::Error::other("it ended without a verdict"));
    }
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(second);
    Ok(said.trim_end().to_owned())
}

impl Second {
    fn start() -> io::Result<Self> {
        let python = std::env::var_os("NDP_PYTHON").unwrap_or_else(|| "python3".into());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checker");
        let mut child = Command::new(python)
            .args(["-c", LOOP])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("it has no input or output");
        let (input, output) =
            (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        Ok(Self { _child: child, input, output: BufReader::new(output) })
    }
}
