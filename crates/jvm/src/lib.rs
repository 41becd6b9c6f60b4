//! Live Java programs: a virtual machine with the agent inside, as a target of a session.
//!
//! [`Launch`] describes how a program is started, [`JavaTarget`] is the running program. The agent is a library of its
//! own (`invigil-jvm-agent`), which this crate carries and loads into the virtual machine.
//!
//! # Events
//!
//! | event | occurs |
//! | --- | --- |
//! | `event Queue.push(item)` | when the method is entered |
//! | `after event Queue.push(ret)` | when it returns; not when an exception leaves it |
//! | `after event Queue.new(this)` | when an object was constructed: at the entry of a constructor there is no `this` yet |
//! | `event write Queue.size(this, size)` | when the field was written, wherever the code is |
//! | `event #exit(status)` | when the program has exited |
//!
//! A class is named in full (`app.Queue`, `app.Outer.Queue`), or by the end of its name (`Queue`); classes of the
//! platform in full (`java.util.ArrayList.add`). `"Queue.push(int, String)"` selects one of several methods of that
//! name. A method that is inherited, abstract or declared by an interface denotes the code that runs for objects of
//! that class. A class that is not found is monitored once it is loaded.
//!
//! # Parameters
//!
//! | parameter | value |
//! | --- | --- |
//! | `item` | a parameter (if the class was compiled with `-g` or `-parameters`), or a field of `this` or of the class |
//! | `arg 1` | a parameter by its position, with the value that it had at the entry |
//! | `this` | the object: its id, which is unique and never reused |
//! | `ret` | the returned or written value |
//! | `"this.items[0].name" as name` | a path or an expression; methods cannot be called |
//! | `#thread` | the thread's Java id |
//!
//! Strings, characters and numbers, also boxed ones such as `Integer`, are passed by value, `null` as `None`, other
//! objects by id. An enumeration constant with type `str` is its name.
//!
//! # Limitations
//!
//! Reads of fields cannot be observed. There are no checkpoints. In a program that was attached to, local variables,
//! steps and breakpoints at lines are not available. Breakpoints at lines are not available either while another
//! debugger is attached. A thread that waits for input from the terminal keeps waiting while the program is stopped.
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `launch`, `attach`, `connection` | starting a virtual machine or attaching to one; the two connections to its agent |
//! | `target`, `target_impl`, `run` | the target's state, its trait, and running it until the next stop |
//! | `events`, `subscriptions`, `params` | from event declarations to the agent's subscriptions, and back to events |
//! | `agent_host`, `calls` | embedded monitors; methods that scripts call |
//! | `breakpoints`, `inspect`, `sources` | the debugger's commands |
//! | `classpath`, `variable_path`, `declared_types`, `constants` | what class files reveal before the program runs |
//! | `instrument` | weaving of classes on disk |

#[cfg(not(target_os = "linux"))]
compile_error!("Java programs can be monitored only on Linux");

mod agent_host;
mod attach;
mod breakpoints;
mod calls;
mod classpath;
mod connection;
mod constants;
mod declared_types;
mod events;
mod inspect;
mod instrument;
mod launch;
mod library;
mod params;
mod run;
mod sources;
mod subscriptions;
mod target;
mod target_impl;
mod variable_path;

pub use attach::is_java_vm;
pub use classpath::ClassPath;
pub use constants::constant;
pub use declared_types::{result_type, variable_type};
pub use instrument::{Instrumented, WovenClass, instrument};
pub use invigil_target::stream::Stream;
pub use launch::{Launch, is_java};
pub use library::AGENT;
pub use target::JavaTarget;
