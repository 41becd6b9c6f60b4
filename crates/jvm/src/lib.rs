//! Live Java programs: a virtual machine with the agent inside, as a subject of a session.
//!
//! [`Launch`] says how a program is started, [`Target`] is the program. The agent is a library of its own
//! (`invigil-jvm-agent`), which [`library`] finds.
//!
//! # Events
//!
//! | event | happens |
//! | --- | --- |
//! | `event Queue.push(item)` | when the method begins |
//! | `after event Queue.push(ret)` | when it returns; not when an exception leaves it |
//! | `after event Queue.new(this)` | when an object was made: when a constructor begins there is no `this` yet |
//! | `event write Queue.size(this, size)` | when the field was written, wherever the code is |
//! | `event #exit(status)` | when the program has exited |
//!
//! A class is named in full (`app.Queue`, `app.Outer.Queue`), or by the end of its name (`Queue`); classes of the platform in
//! full (`java.util.ArrayList.add`). `"Queue.push(int, String)"` is one of several methods of that name. A method
//! that is inherited, abstract or of an interface means the code that runs for objects of that class. A class that is
//! not found is watched when it is loaded.
//!
//! # Parameters
//!
//! | parameter | is |
//! | --- | --- |
//! | `item` | a parameter (if the class was compiled with `-g` or `-parameters`), or a field of `this` or of the class |
//! | `arg 1` | a parameter by its position, with the value that it had at the begin |
//! | `this` | the object: its number, which is its own as long as it lives and no other's ever |
//! | `ret` | what is returned, or written |
//! | `"this.items[0].name" as name` | a path or an expression; no methods are called |
//! | `#thread` | the number of the thread, as Java counts |
//!
//! Strings, characters and numbers, also in boxes such as `Integer`, are told by value, `null` as `None`, other objects by
//! number. `x: str` of a constant of an enumeration is its name.
//!
//! # What is not possible
//!
//! Reads of fields are not told. There are no checkpoints. In a program that was attached to, local variables, steps and
//! points at lines are not available, nor are points at lines where another debugger is. A thread that waits for
//! input from the terminal goes on waiting while the program stands still.

#[cfg(not(target_os = "linux"))]
compile_error!("Java programs can be watched on Linux only, so far");

mod attach;
mod calls;
mod classpath;
mod constants;
mod events;
mod inside;
mod instrument;
mod launch;
mod library;
mod link;
mod look;
mod params;
mod points;
mod route;
mod run;
mod sources;
mod subject;
mod target;
mod types;
mod wants;

pub use attach::is_machine;
pub use classpath::ClassPath;
pub use constants::constant;
pub use instrument::{Grown, Instrumented, instrument};
pub use invigil_session::stream::Stream;
pub use launch::{Launch, is_java};
pub use library::library;
pub use target::Target;
pub use types::strange_types;
