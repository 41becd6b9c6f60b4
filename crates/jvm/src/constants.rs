//! Constants of a program: `static final` fields, which are never written.

use crate::ClassPath;
use crate::variable_path::{classes_named, declaring_class};
use invigil_lang::pedl::ast::Literal;
use invigil_weave::Constant;

const STATIC: u16 = 0x0008;

/// The value of a constant such as `Control.GATE_DOWN`, as in the class files; `None` if there is no such constant. For
/// `pedl::lower`.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, constant};
/// use invigil_lang::pedl;
/// # let script = pedl::ast::Script::default();
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// let (lowered, problems) = pedl::lower(&script, &|name| constant(&path, name));
/// ```
pub fn constant(path: &ClassPath, name: &str) -> Option<Literal> {
    let (class, member) = name.rsplit_once('.')?;
    let candidates = classes_named(path, class);
    let (_, field) = candidates.iter().find_map(|class| declaring_class(path, class, member))?;
    if field.access & STATIC == 0 {
        return None;
    }
    Some(match (field.constant?, field.descriptor.as_str()) {
        (Constant::Int(value), "Z") => Literal::Boolean(value != 0),
        (Constant::Int(value), "C") => Literal::Char(value as u16),
        (Constant::Int(value), _) => Literal::Int(value),
        (Constant::Long(value), _) => Literal::Long(value),
        (Constant::Float(value), _) => Literal::Float(value),
        (Constant::Double(value), _) => Literal::Double(value),
        (Constant::Text(value), _) => Literal::String(value),
    })
}
