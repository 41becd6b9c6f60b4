//! What a node writes down: its runs, so that it can go on with them when it comes back.
//!
//! `FOLDER/runs/RUN/deployment` is what it was given to do, `FOLDER/runs/RUN/state` how far it has come, and
//! `FOLDER/traces/NUMBER-COMPONENT.trace` what its components observe, if the node has that itself. `FOLDER/lock` is locked as long
//! as a node uses the folder.

use crate::deployment::Deployment;
use crate::run::Run;
use crate::wire::{self, Request, RunId};
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// A node's folder. Without one nothing is written down.
#[derive(Debug, Default)]
pub struct Store {
    folder: Option<PathBuf>,
    /// Held as long as the node lives, so that no other uses the folder.
    _lock: Option<File>,
}

impl Store {
    /// In a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be, or if another node uses it.
    pub fn new(folder: Option<&Path>) -> Result<Store, String> {
        let Some(folder) = folder else { return Ok(Store::default()) };
        let told = |error| told(folder, &error);
        fs::create_dir_all(folder.join("runs")).map_err(told)?;
        let lock = File::create(folder.join("lock")).map_err(told)?;
        match lock.try_lock() {
            Ok(()) => Ok(Store { folder: Some(folder.to_owned()), _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => {
                Err(format!("{}: another node uses this folder: give each its own", folder.display()))
            }
            Err(TryLockError::Error(error)) => Err(told(error)),
        }
    }

    /// A run with its traces, from its beginning or from what was written down.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn run(&self, deployment: Deployment, saved: Option<&[u8]>) -> Result<Run, String> {
        Run::new(deployment, saved, |number, component| self.trace(number, component))
    }

    fn trace(&self, number: u32, component: &str) -> Result<Box<dyn BufRead + Send>, String> {
        let folder = self
            .folder
            .as_ref()
            .ok_or("this node has no folder with traces: give it one, or send them along")?;
        let path = folder.join("traces").join(format!("{number}-{component}.trace"));
        let file = File::open(&path).map_err(|error| told(&path, &error))?;
        Ok(Box::new(BufReader::new(file)))
    }

    /// Writes down a new run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&self, deployment: &Deployment) -> Result<(), String> {
        let Some(folder) = self.of(deployment.run) else { return Ok(()) };
        fs::create_dir_all(&folder).map_err(|error| told(&folder, &error))?;
        let bytes = wire::encode(&Request::Deploy(Box::new(deployment.clone())))
            .map_err(|refusal| refusal.to_string())?;
        write(&folder.join("deployment"), &bytes)
    }

    /// Writes down how far a run has come.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, run: &Run) -> Result<(), String> {
        let Some(folder) = self.of(run.deployment().run) else { return Ok(()) };
        let bytes = run.save().map_err(|refusal| format!("the state cannot be written: {refusal}"))?;
        write(&folder.join("state"), &bytes)
    }

    /// Forgets a run.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget(&self, run: RunId) -> Result<(), String> {
        let Some(folder) = self.of(run) else { return Ok(()) };
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(told(&folder, &error)),
            _ => Ok(()),
        }
    }

    /// The runs that were written down, or why one cannot go on.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn runs(&self) -> Result<Vec<Result<Run, String>>, String> {
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join("runs")) else {
            return Ok(Vec::new());
        };
        let entries = fs::read_dir(&folder).map_err(|error| told(&folder, &error))?;
        Ok(entries.filter_map(Result::ok).map(|entry| self.load(&entry.path())).collect())
    }

    fn load(&self, folder: &Path) -> Result<Run, String> {
        let path = folder.join("deployment");
        let bytes = fs::read(&path).map_err(|error| told(&path, &error))?;
        let deployment = match wire::decode(&bytes) {
            Ok(Request::Deploy(deployment)) => *deployment,
            Ok(_) => return Err(format!("{}: this is no deployment", path.display())),
            Err(refusal) => return Err(format!("{}: {refusal}", path.display())),
        };
        let path = folder.join("state");
        let saved = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(told(&path, &error)),
        };
        self.run(deployment, saved.as_deref()).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn of(&self, run: RunId) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("runs").join(run.to_string()))
    }
}

/// Writes a file such that it is there as a whole or not at all when the process is killed.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let new = path.with_extension("new");
    fs::write(&new, bytes).and_then(|()| fs::rename(&new, path)).map_err(|error| told(path, &error))
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
