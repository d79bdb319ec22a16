//! The programs that laggard is compared with.

use std::path::PathBuf;

use anyhow::Context;

pub(crate) fn laggard() -> PathBuf {
    env!("CARGO_BIN_EXE_laggard").into()
}

/// sysstat's recorder, which is not in the search path.
pub(crate) fn sadc() -> anyhow::Result<PathBuf> {
    let places =
        ["/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc", "/usr/lib/sa/sadc", "/usr/libexec/sysstat/sadc"];
    let found = places.iter().map(PathBuf::from).find(|path| path.exists());
    found.with_context(|| format!("needs sadc: found none of {}: install sysstat", places.join(", ")))
}

pub(crate) fn program(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.with_context(|| format!("needs {name}: not in the search path: install it"))
}

/// A Python with pyarrow: `LAGGARD_PYTHON`, else `python3`.
pub(crate) fn python() -> anyhow::Result<PathBuf> {
    let python = match std::env::var_os("LAGGARD_PYTHON") {
        Some(path) => PathBuf::from(path),
        None => program("python3")?,
    };
    let tried = std::process::Command::new(&python).args(["-c", "import pyarrow.parquet"]).output()?;
    anyhow::ensure!(
        tried.status.success(),
        "{}: has no pyarrow: set LAGGARD_PYTHON to a Python with pyarrow",
        python.display()
    );
    Ok(python)
}

pub(crate) fn ensure_root() -> anyhow::Result<()> {
    anyhow::ensure!(rustix::process::geteuid().is_root(), "needs root: it sets up loop devices");
    Ok(())
}
