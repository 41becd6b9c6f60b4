//! Constants of a program: `static final` fields, which are never written.

use crate::ClassPath;
use crate::variable_path::{classes_named, declaring_class};
use invigil_monitor::mac::JavaConstant;
use invigil_weave::Constant;

const STATIC: u16 = 0x0008;

/// The value of a constant such as `Control.GATE_DOWN`, as in the class files; `None` if there is no such constant.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, constant};
/// use invigil_monitor::mac::JavaConstant;
///
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// assert_eq!(constant(&path, "Control.GATE_DOWN"), Some(JavaConstant::Int(90)));
/// ```
pub fn constant(path: &ClassPath, name: &str) -> Option<JavaConstant> {
    let (class, member) = name.rsplit_once('.')?;
    let candidates = classes_named(path, class);
    let (_, field) = candidates.iter().find_map(|class| declaring_class(path, class, member))?;
    if field.access & STATIC == 0 {
        return None;
    }
    Some(match (field.constant?, field.descriptor.as_str()) {
        (Constant::Int(value), "Z") => JavaConstant::Boolean(value != 0),
        (Constant::Int(value), "C") => JavaConstant::Char(value as u16),
        (Constant::Int(value), _) => JavaConstant::Int(value),
        (Constant::Long(value), _) => JavaConstant::Long(value),
        (Constant::Float(value), _) => JavaConstant::Float(value),
        (Constant::Double(value), _) => JavaConstant::Double(value),
        (Constant::Text(value), _) => JavaConstant::Text(value),
    })
}
