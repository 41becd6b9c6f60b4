//! The monitored Java programs, compiled when the benchmark runs.

use super::Outcome;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A file of the examples.
pub(crate) fn example(path: &str) -> Outcome<String> {
    let path = root().join("examples").join(path);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The compiled programs in a temporary directory.
pub(crate) struct Programs {
    dir: tempfile::TempDir,
    aspectj: Option<AspectJ>,
}

/// The jars of AspectJ and the programs that it has woven.
pub(crate) struct AspectJ {
    runtime: PathBuf,
    weaver: PathBuf,
}

impl Programs {
    pub(crate) fn build() -> Outcome<Programs> {
        let dir = tempfile::tempdir().map_err(|error| format!("cannot create a directory: {error}"))?;
        let mut programs = Programs { dir, aspectj: None };
        let here = root().join("benches/java");
        let files = ["TestMain", "Figures", "Sweep", "Calls", "Objects", "Step", "Empty"];
        // AspectJ cannot read newer class files.
        programs.compile(
            "classes",
            &["--release", "11"],
            &files.map(|file| here.join(format!("{file}.java"))),
        )?;
        programs.compile("jdi", &["-cp".into(), programs.path("classes")], &[here.join("Jdi.java")])?;
        for example in ["sieve", "bank"] {
            programs.compile(example, &[] as &[&str], &sources(&root().join("examples").join(example))?)?;
        }
        programs.aspectj = programs.weave(&here)?;
        Ok(programs)
    }

    /// Directory of classes.
    pub(crate) fn path(&self, name: &str) -> OsString {
        self.dir.path().join(name).into_os_string()
    }

    /// AspectJ, if it is installed.
    pub(crate) fn aspectj(&self) -> Option<&AspectJ> {
        self.aspectj.as_ref()
    }

    fn compile(&self, name: &str, options: &[impl AsRef<std::ffi::OsStr>], files: &[PathBuf]) -> Outcome {
        let mut javac = Command::new("javac");
        javac.arg("-g").args(options).arg("-d").arg(self.path(name)).args(files);
        run_compiler(&mut javac, "install a JDK, such as openjdk-17-jdk-headless")
    }

    fn weave(&self, here: &Path) -> Outcome<Option<AspectJ>> {
        let jar = |name: &str| Path::new("/usr/share/java").join(format!("{name}.jar"));
        let [tools, runtime, weaver] = ["aspectjtools", "aspectjrt", "aspectjweaver"].map(jar);
        if ![&tools, &runtime, &weaver].iter().all(|jar| jar.is_file()) {
            return Ok(None);
        }
        let compiler = || {
            let mut command = Command::new("java");
            command.arg("-cp").arg(&tools).args(["org.aspectj.tools.ajc.Main", "-11", "-Xlint:ignore"]);
            command
        };
        let watch = here.join("aspectj/Watch.aj");
        let mut woven = compiler();
        woven.arg("-cp").arg(&runtime).arg("-inpath").arg(self.path("classes"));
        run_compiler(woven.arg("-d").arg(self.path("woven")).arg(&watch), "")?;
        let mut aspect = compiler();
        aspect.arg("-cp").arg(path_of(&[runtime.clone().into(), self.path("classes")]));
        run_compiler(aspect.arg("-d").arg(self.path("aspect")).arg(&watch), "")?;
        let folder = Path::new(&self.path("aspect")).join("META-INF");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::copy(here.join("aspectj/META-INF/aop.xml"), folder.join("aop.xml")))
            .map_err(|error| format!("META-INF/aop.xml: {error}"))?;
        Ok(Some(AspectJ { runtime, weaver }))
    }
}

impl AspectJ {
    /// Arguments of `java` for the programs woven at compile time.
    pub(crate) fn compiled(&self, programs: &Programs) -> Vec<OsString> {
        vec!["-cp".into(), path_of(&[programs.path("woven"), self.runtime.clone().into()])]
    }

    /// Arguments of `java` for the programs woven at load time.
    pub(crate) fn loaded(&self, programs: &Programs) -> Vec<OsString> {
        let mut agent = OsString::from("-javaagent:");
        agent.push(&self.weaver);
        let path = path_of(&[programs.path("aspect"), programs.path("classes"), self.runtime.clone().into()]);
        vec![agent, "--add-opens".into(), "java.base/java.lang=ALL-UNNAMED".into(), "-cp".into(), path]
    }
}

/// A class path.
pub(crate) fn path_of(folders: &[OsString]) -> OsString {
    folders.join(std::ffi::OsStr::new(":"))
}

/// The Java files of a directory.
fn sources(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let all = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = all.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(files.filter(|file| file.extension().is_some_and(|end| end == "java")).collect())
}

/// Runs a compiler.
fn run_compiler(command: &mut Command, remedy: &str) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{name}` cannot be run: {error}; {remedy}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "`{name}`: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}
