//! The place where a program runs: the machine itself, or the namespaces of a process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::LabError;
use super::bounded;

/// A program that takes longer hangs: even a file system of a lab is made in seconds.
const LONGEST: Duration = Duration::from_secs(600);

/// The namespaces that a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Those of the caller.
    Here,
    /// Those of a process, by its number.
    Inside(u32),
    /// The network of a process, by its number, and otherwise those of the caller.
    Network(u32),
}

impl Place {
    /// A command line in this place, not yet started, with an empty standard input.
    pub fn command(self, words: &[&str]) -> Command {
        let target = match self {
            Place::Here => String::new(),
            Place::Inside(process) | Place::Network(process) => format!("--target={process}"),
        };
        let entering: &[&str] = match self {
            Place::Here => &[],
            Place::Network(_) => &["nsenter", &target, "--net", "--"],
            Place::Inside(_) => &["nsenter", &target, "--mount", "--net", "--uts", "--ipc", "--pid", "--"],
        };
        let all: Vec<&str> = entering.iter().chain(words).copied().collect();
        let mut command = Command::new(all.first().copied().unwrap_or("false"));
        command.args(all.iter().skip(1)).env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
        command
    }

    /// Runs a program, which must succeed; returns its output.
    pub fn run(self, words: &[&str]) -> Result<String, LabError> {
        finish(self.command(words), words, LONGEST)
    }

    /// Runs a shell script with variables, which must succeed; returns its output.
    pub fn script(self, script: &str, variables: &[(&str, String)]) -> Result<String, LabError> {
        let words = ["sh", "-euc", script];
        let mut command = self.command(&words);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        finish(command, &["sh", "-c", script.trim()], LONGEST)
    }

    /// Starts a program that outlives the caller; its output goes to a file.
    pub fn start(self, words: &[&str], log: &Path) -> Result<(), LabError> {
        let file = File::options().create(true).append(true).open(log).map_err(LabError::at(log))?;
        let twin = file.try_clone().map_err(LabError::at(log))?;
        // Its own session: a hang-up of the terminal does not reach it.
        let all = [&["setsid", "--fork"], words].concat();
        let mut command = self.command(&all);
        let status = command.stdout(file).stderr(twin).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(words, status.to_string())),
            Err(error) => Err(failed(words, error.to_string())),
        }
    }

    /// The path, from outside, of a path in this place.
    pub fn seen(self, path: &Path) -> PathBuf {
        match self {
            Place::Here | Place::Network(_) => path.to_owned(),
            Place::Inside(process) => Path::new("/proc")
                .join(process.to_string())
                .join("root")
                .join(path.strip_prefix("/").unwrap_or(path)),
        }
    }
}

fn finish(mut command: Command, words: &[&str], longest: Duration) -> Result<String, LabError> {
    let captured = bounded::capture(&mut command, None, longest);
    let captured = captured.map_err(|error| failed(words, error.to_string()))?;
    if captured.is_healthy() {
        Ok(String::from_utf8_lossy(&captured.stdout).into_owned())
    } else {
        Err(failed(words, captured.complaint()))
    }
}

fn failed(words: &[&str], reason: String) -> LabError {
    LabError::Program { command: words.join(" "), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_program_that_fails_has_its_output() {
        assert_eq!(Place::Here.run(&["echo", "ok"]).unwrap(), "ok\n");
        let error = Place::Here.run(&["sh", "-c", "echo why >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.ends_with("failed: why"), "{error}");
        let error = Place::Here.run(&["no-such-program"]).unwrap_err().to_string();
        assert!(error.starts_with("`no-such-program` failed: No such file"), "{error}");
    }

    #[test]
    fn a_script_sees_its_variables_and_stops_at_the_first_failure() {
        let script = |text: &str| Place::Here.script(text, &[("WORD", "x y".into())]);
        assert_eq!(script("echo \"$WORD\"").unwrap(), "x y\n");
        assert!(script("false; true").is_err());
    }

    #[test]
    fn a_program_that_does_not_end_is_an_error() {
        let error = finish(Place::Here.command(&["sleep", "60"]), &["sleep"], Duration::from_millis(50));
        assert!(error.unwrap_err().to_string().ends_with("it did not end in time"));
    }
}
