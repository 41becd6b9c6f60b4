//! Files of a node: its runs, so that it can resume them after a restart.
//!
//! `FOLDER/runs/RUN/deployment` contains the deployment of a run, `FOLDER/runs/RUN/state` its saved state, and
//! `FOLDER/traces/NUMBER-COMPONENT.trace` traces stored on the node. `FOLDER/lock` is locked while a node uses the
//! folder.

use crate::deployment::Deployment;
use crate::run::Run;
use crate::wire::{self, Request, RunId};
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// Folder of a node. Without a folder nothing is saved.
#[derive(Debug, Default)]
pub struct Store {
    folder: Option<PathBuf>,
    /// Held while the node runs, so that no other one uses the folder.
    _lock: Option<File>,
}

impl Store {
    /// Opens a folder; creates it if needed.
    ///
    /// # Errors
    /// Fails if the folder cannot be created or another node uses it.
    pub fn new(folder: Option<&Path>) -> Result<Store, String> {
        let Some(folder) = folder else { return Ok(Store::default()) };
        let io_error = |error| io_error(folder, &error);
        fs::create_dir_all(folder.join("runs")).map_err(io_error)?;
        let lock = File::create(folder.join("lock")).map_err(io_error)?;
        match lock.try_lock() {
            Ok(()) => Ok(Store { folder: Some(folder.to_owned()), _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "{}: another node uses this folder: use a separate one for each node",
                folder.display()
            )),
            Err(TryLockError::Error(error)) => Err(io_error(error)),
        }
    }

    /// Creates a run with its traces, new or from its saved state.
    ///
    /// # Errors
    /// Fails like [`Run::new`].
    pub fn create_run(&self, deployment: Deployment, saved: Option<&[u8]>) -> Result<Run, String> {
        Run::new(deployment, saved, |number, component| self.trace(number, component))
    }

    fn trace(&self, number: u32, component: &str) -> Result<Box<dyn BufRead + Send>, String> {
        let folder = self
            .folder
            .as_ref()
            .ok_or("this node has no folder with traces: start it with --folder, or send the traces with the run (--traces)")?;
        let path = folder.join("traces").join(format!("{number}-{component}.trace"));
        let file = File::open(&path).map_err(|error| io_error(&path, &error))?;
        Ok(Box::new(BufReader::new(file)))
    }

    /// Saves the deployment of a new run.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn save_deployment(&self, deployment: &Deployment) -> Result<(), String> {
        let Some(folder) = self.run_folder(deployment.run) else { return Ok(()) };
        fs::create_dir_all(&folder).map_err(|error| io_error(&folder, &error))?;
        let bytes = wire::encode(&Request::Deploy(Box::new(deployment.clone())))
            .map_err(|error| error.to_string())?;
        write(&folder.join("deployment"), &bytes)
    }

    /// Saves the state of a run.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn save(&self, run: &Run) -> Result<(), String> {
        let Some(folder) = self.run_folder(run.deployment().run) else { return Ok(()) };
        let bytes = run.save().map_err(|error| format!("cannot encode the state: {error}"))?;
        write(&folder.join("state"), &bytes)
    }

    /// Removes a run.
    ///
    /// # Errors
    /// Fails if it cannot be removed.
    pub fn remove_run(&self, run: RunId) -> Result<(), String> {
        let Some(folder) = self.run_folder(run) else { return Ok(()) };
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error(&folder, &error)),
            _ => Ok(()),
        }
    }

    /// Loads the saved runs, or the reason why one cannot be resumed.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn runs(&self) -> Result<Vec<Result<Run, String>>, String> {
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join("runs")) else {
            return Ok(Vec::new());
        };
        let entries = fs::read_dir(&folder).map_err(|error| io_error(&folder, &error))?;
        Ok(entries.filter_map(Result::ok).map(|entry| self.load(&entry.path())).collect())
    }

    fn load(&self, folder: &Path) -> Result<Run, String> {
        let path = folder.join("deployment");
        let bytes = fs::read(&path).map_err(|error| io_error(&path, &error))?;
        let deployment = match wire::decode(&bytes) {
            Ok(Request::Deploy(deployment)) => *deployment,
            Ok(_) => return Err(format!("{}: not a deployment", path.display())),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let path = folder.join("state");
        let saved = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(io_error(&path, &error)),
        };
        self.create_run(deployment, saved.as_deref()).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn run_folder(&self, run: RunId) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("runs").join(run.to_string()))
    }
}

/// Writes a file atomically: it is complete or unchanged if the process is killed.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let new = path.with_extension("new");
    fs::write(&new, bytes).and_then(|()| fs::rename(&new, path)).map_err(|error| io_error(path, &error))
}

fn io_error(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
