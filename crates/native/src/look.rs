//! Looking into the program where it stands, and changing it.

use crate::displace::{self, Exits};
use crate::engine::lost;
use crate::events::fetch;
use crate::place;
use crate::sys::Tid;
use crate::target::Target;
use crate::watch;
use gimli::Register;
use invigil_debuginfo::machine::{Memory, RIP};
use invigil_debuginfo::program::{Function, Line};
use invigil_debuginfo::unwinding::Frame as Unwound;
use invigil_debuginfo::value::datum::Unavailable;
use invigil_debuginfo::value::info::At;
use invigil_debuginfo::value::{
    Change, Datum, Expression, Extractor, Form, Mistake, Needs, Plain, Scope, Style, Wanted,
};
use invigil_session::subject::{self as told, Done, Trouble, Variable};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// So many frames are looked at for one expression.
const DEEP: usize = 256;
/// So many values are shown at a time.
const MOST: usize = 1 << 16;

fn mistake(mistake: &Mistake) -> Trouble {
    Trouble::Request(mistake.to_string())
}

fn parse(text: &str) -> Done<Expression> {
    Expression::parse(text).map_err(|wrong| mistake(&wrong))
}

impl Target {
    /// The frames of a thread, innermost first.
    pub(crate) fn unwind(&mut self, tid: Tid, limit: usize) -> Done<Vec<Unwound>> {
        let regs = self.engine.task(tid)?.registers().map_err(lost)?;
        let read = fetch(tid, &regs, Needs::Vector);
        Ok(self.program.unwind(&read, &self.view(), limit))
    }

    /// Does something with what can be seen from the selected frame.
    fn look<T>(&mut self, see: impl FnOnce(&Scope<'_>) -> Done<T>) -> Done<T> {
        if let Some(ending) = &self.ended {
            return Err(Trouble::Ended(ending.clone()));
        }
        self.engine.hold()?;
        let (tid, level) = (self.current, self.frame);
        // An expression may speak of callers: `^x`.
        let frames = self.unwind(tid, DEEP.max(level.saturating_add(2)))?;
        let view = self.view();
        see(&Scope::new(&self.program, &self.types, &view, &frames, level))
    }

    /// The same in the innermost frame of a thread, without stopping the others.
    pub(crate) fn look_at<T>(&mut self, tid: Tid, see: impl FnOnce(&Scope<'_>) -> T) -> Done<T> {
        let frames = self.unwind(tid, 8)?;
        let view = self.view();
        Ok(see(&Scope::new(&self.program, &self.types, &view, &frames, 0)))
    }

    pub(crate) fn print(&mut self, text: &str) -> Done<String> {
        let expression = parse(text)?;
        self.look(|scope| {
            let datum = scope.evaluate(&expression).map_err(|wrong| mistake(&wrong))?;
            Ok(scope.show(&datum, &Style::default()))
        })
    }

    pub(crate) fn type_of(&mut self, text: &str) -> Done<String> {
        let expression = parse(text)?;
        self.look(|scope| {
            let datum = scope.evaluate(&expression).map_err(|wrong| mistake(&wrong))?;
            Ok(scope.type_name(&datum.ty))
        })
    }

    /// Whether an expression can be understood at all.
    pub(crate) fn check_expression(&self, text: &str) -> Done {
        parse(text).map(drop)
    }

    /// Whether the names of an expression are known at an address. Code without debug information knows none.
    pub(crate) fn check_names(&self, text: &str, address: u64) -> Done {
        let form = Form::Expression(parse(text)?);
        let function = self.program.function_at(address).filter(|function| function.has_debug);
        let checked = function.map(|function| {
            Extractor::compile(&self.program, &self.types, &function, address, &form, Wanted::Any)
        });
        checked.transpose().map(drop).map_err(|wrong| mistake(&wrong))
    }

    /// Whether an expression is true where the current thread stands.
    pub(crate) fn is_true(&mut self, text: &str) -> Done<bool> {
        let expression = parse(text)?;
        let tid = self.current;
        let plain = self.look_at(tid, |scope| {
            let datum = scope.evaluate(&expression).map_err(|wrong| mistake(&wrong))?;
            Ok(scope.plain(&datum, Wanted::Bool))
        })??;
        match plain {
            Plain::Int(i) => Ok(i != 0),
            Plain::Bool(b) => Ok(b),
            Plain::Float(f) => Ok(f != 0.0),
            Plain::Str(text) => Ok(!text.is_empty()),
            Plain::Unavailable(why) => Err(Trouble::Request(why.to_string())),
        }
    }

    /// What an expression names in memory, and where that is.
    pub(crate) fn extent_of(&mut self, text: &str) -> Done<(Datum, Range<u64>)> {
        let expression = parse(text)?;
        let tid = self.current;
        let (datum, range) = self.look_at(tid, |scope| {
            let datum = scope.evaluate(&expression).map_err(|wrong| mistake(&wrong))?;
            let (start, length) = scope.extent(&datum).ok_or_else(|| Target::no_memory(text))?;
            Ok::<_, Trouble>((datum, watch::stretch(start, length)?))
        })??;
        self.check_mapped(&range)?;
        Ok((datum, range))
    }

    /// What is at present where a datum is.
    pub(crate) fn plain_of(&mut self, tid: Tid, datum: &Datum) -> Plain {
        let read = self.look_at(tid, |scope| scope.plain(datum, Wanted::Any));
        read.unwrap_or(Plain::Unavailable(Unavailable::NoRegister(RIP.0)))
    }

    pub(crate) fn assign(&mut self, place: &str, value: &str) -> Done {
        let (to, from) = (parse(place)?, parse(value)?);
        let changes = self.look(|scope| scope.assign(&to, &from).map_err(|wrong| mistake(&wrong)))?;
        for change in changes {
            match change {
                Change::Memory { address, bytes } => {
                    if !self.engine.sites.write_around(&self.engine.memory, address, &bytes) {
                        return Err(Trouble::Request(format!(
                            "the memory at {address:#x} cannot be changed"
                        )));
                    }
                }
                Change::Register { number, value } => self.set_register(number.0, value as u64)?,
            }
        }
        Ok(())
    }

    fn set_register(&mut self, number: u16, value: u64) -> Done {
        if self.frame != 0 {
            return Err(Trouble::Request("registers can be changed in the innermost frame only".into()));
        }
        let task = self.engine.task(self.current)?;
        let mut regs = task.registers().map_err(lost)?;
        let place = match number {
            0 => &mut regs.rax,
            1 => &mut regs.rdx,
            2 => &mut regs.rcx,
            3 => &mut regs.rbx,
            4 => &mut regs.rsi,
            5 => &mut regs.rdi,
            6 => &mut regs.rbp,
            7 => &mut regs.rsp,
            8 => &mut regs.r8,
            9 => &mut regs.r9,
            10 => &mut regs.r10,
            11 => &mut regs.r11,
            12 => &mut regs.r12,
            13 => &mut regs.r13,
            14 => &mut regs.r14,
            15 => &mut regs.r15,
            16 => &mut regs.rip,
            _ => return Err(Trouble::Request("this register cannot be changed".into())),
        };
        *place = value;
        task.set_registers(regs);
        if number == 16 {
            // It stands elsewhere now: what is there is yet to be told.
            task.standing = None;
            task.handled = Default::default();
        }
        task.flush().map_err(lost)
    }

    pub(crate) fn frames(&mut self, limit: usize) -> Done<Vec<told::Frame>> {
        if let Some(ending) = &self.ended {
            return Err(Trouble::Ended(ending.clone()));
        }
        self.engine.hold()?;
        let tid = self.current;
        let frames = self.unwind(tid, limit.saturating_add(2))?;
        let view = self.view();
        let all = frames.iter().enumerate().take(limit).map(|(level, frame)| {
            let scope = Scope::new(&self.program, &self.types, &view, &frames, level);
            let image = self.program.image_at(frame.lookup());
            told::Frame {
                address: frame.pc,
                function: self.function_name(frame),
                inlined: frame.is_inlined,
                arguments: variables(&scope, scope.arguments()),
                line: frame.line.as_ref().map(line),
                object: image.map(|loaded| loaded.image.path().to_owned()),
            }
        });
        Ok(all.collect())
    }

    fn function_name(&self, frame: &Unwound) -> String {
        match &frame.function {
            Some(function) => function.name.clone(),
            None => match self.program.symbol_at(frame.lookup()) {
                Some((name, _)) => name,
                None => "??".to_owned(),
            },
        }
    }

    pub(crate) fn locals(&mut self) -> Done<Vec<Variable>> {
        self.look(|scope| Ok(variables(scope, scope.locals())))
    }

    pub(crate) fn select_frame(&mut self, depth: usize) -> Done {
        let tid = self.current;
        self.engine.hold()?;
        let frames = self.unwind(tid, depth.saturating_add(1))?;
        if depth >= frames.len() {
            return Err(Trouble::Request(format!("there are {} frames", frames.len())));
        }
        self.frame = depth;
        Ok(())
    }

    pub(crate) fn select_thread(&mut self, id: u32) -> Done {
        self.engine.hold()?;
        let tid = id as Tid;
        if !self.engine.tasks.contains_key(&tid) {
            return Err(Trouble::Request(format!("there is no thread {id}; see `info threads`")));
        }
        (self.current, self.frame) = (tid, 0);
        Ok(())
    }

    pub(crate) fn threads(&mut self) -> Vec<told::Thread> {
        if self.ended.is_some() || self.engine.hold().is_err() {
            return Vec::new();
        }
        let ours = self.engine.tasks.values().filter(|task| !task.foreign && !task.over);
        let all: Vec<Tid> = ours.map(|task| task.tid).collect();
        let mut told = Vec::new();
        for tid in all {
            let path = format!("/proc/{}/task/{tid}/comm", self.engine.process);
            let name = std::fs::read_to_string(path).unwrap_or_default().trim_end().to_owned();
            let at = match self.engine.task(tid).and_then(|task| task.pc().map_err(lost)) {
                Ok(pc) => self.describe(pc),
                Err(_) => String::new(),
            };
            told.push(told::Thread { id: tid as u32, name, at, selected: tid == self.current });
        }
        told
    }

    /// A place in words: `queue_push (faulty.c:29)`, or an address.
    pub(crate) fn describe(&self, pc: u64) -> String {
        let name = match self.program.symbol_at(pc) {
            Some((name, 0)) => name,
            Some((name, offset)) => format!("{name}+{offset}"),
            None => format!("{pc:#x}"),
        };
        self.with_line(name, pc)
    }

    pub(crate) fn with_line(&self, name: String, pc: u64) -> String {
        match self.program.line_of(pc) {
            Some(line) => {
                let file = line
                    .file
                    .file_name()
                    .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                format!("{name} ({file}:{})", line.line)
            }
            None => name,
        }
    }

    /// Where the current thread stands, in words.
    pub(crate) fn place(&mut self) -> String {
        let pc = self.engine.task(self.current).and_then(|task| task.pc().map_err(lost));
        let Ok(pc) = pc else { return String::new() };
        let name = self.program.symbol_at(pc).map_or_else(|| format!("{pc:#x}"), |(name, _)| name);
        self.with_line(name, pc)
    }

    /// Where the selected frame stands in the sources.
    pub(crate) fn here(&mut self) -> Option<Line> {
        let (tid, depth) = (self.current, self.frame);
        let frames = self.unwind(tid, depth + 1).ok()?;
        frames.get(depth)?.line.clone()
    }

    pub(crate) fn line(&mut self, name: Option<&str>) -> Done<Option<told::Line>> {
        if self.ended.is_none() {
            self.engine.hold()?;
        }
        let here = if self.ended.is_none() { self.here() } else { None };
        let Some(name) = name else { return Ok(here.as_ref().map(line)) };
        let found = place::find(&self.program, &self.view(), here.as_ref(), name)
            .map_err(|missing| Trouble::Request(missing.words()))?;
        let first = found.addresses().first().copied();
        Ok(first.and_then(|address| self.program.line_of(address)).as_ref().map(line))
    }

    pub(crate) fn examine(
        &mut self,
        text: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> Done<Vec<String>> {
        let expression = parse(text)?;
        let start = self.look(|scope| {
            let datum = scope.evaluate(&expression).map_err(|wrong| mistake(&wrong))?;
            match (scope.plain(&datum, Wanted::Address), scope.extent(&datum)) {
                (Plain::Int(address), _) => Ok(address as u64),
                (_, Some((address, _))) => Ok(address),
                (Plain::Unavailable(why), _) => Err(Trouble::Request(why.to_string())),
                _ => Err(Trouble::Request(format!("`{text}` is no address"))),
            }
        })?;
        if count > MOST {
            return Err(Trouble::Request(format!("at most {MOST} values can be shown at a time")));
        }
        if format == 'i' {
            return self.disassemble(start, count);
        }
        if format == 's' {
            return self.strings(start, count);
        }
        let size = if format == 'c' { 1 } else { size.clamp(1, 8) };
        let per_line = 16 / size;
        let mut lines = Vec::new();
        for (row, first) in (0..count).step_by(per_line).enumerate() {
            // Nothing lies beyond the last address.
            let Some(at) = start.checked_add((row * 16) as u64) else { break };
            let mut values = Vec::new();
            for index in 0..per_line.min(count - first) {
                let Some(address) = at.checked_add((index * size) as u64) else { break };
                let mut bytes = [0; 8];
                if self.view().read(address, &mut bytes[..size]).is_err() {
                    values.push("?".repeat(2 * size));
                    continue;
                }
                values.push(shown(u64::from_le_bytes(bytes), format, size));
            }
            lines.push(format!("{at:#x}:  {}", values.join("  ")));
        }
        Ok(lines)
    }

    fn strings(&mut self, start: u64, count: usize) -> Done<Vec<String>> {
        let mut at = start;
        let mut lines = Vec::new();
        for _ in 0..count {
            let text = invigil_debuginfo::value::text_at(&self.view(), at)
                .ok_or_else(|| Trouble::Request(format!("the memory at {at:#x} cannot be read")))?;
            lines.push(format!("{at:#x}:  {text:?}"));
            let Some(next) = at.checked_add(text.len() as u64 + 1) else { break };
            at = next;
        }
        Ok(lines)
    }

    fn disassemble(&mut self, start: u64, count: usize) -> Done<Vec<String>> {
        use iced_x86::{Decoder, DecoderOptions};
        let mut code = vec![0; 15 * count.min(4096)];
        let read = self.engine.memory.read_some(start, &mut code);
        self.engine.sites.clean(start, &mut code[..read]);
        if read == 0 {
            return Err(Trouble::Request(format!("the memory at {start:#x} cannot be read")));
        }
        let all = Decoder::with_ip(64, &code[..read], start, DecoderOptions::NONE);
        let shown = all.into_iter().take(count).map(|instruction| {
            format!("{:#x} <{}>:  {instruction}", instruction.ip(), self.describe(instruction.ip()))
        });
        Ok(shown.collect())
    }

    pub(crate) fn registers(&mut self) -> Done<Vec<Variable>> {
        let names = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"].map(str::to_owned).into_iter();
        let names: Vec<String> =
            names.chain((8..16).map(|n| format!("r{n}"))).chain(["rip".to_owned()]).collect();
        self.engine.hold()?;
        let (tid, depth) = (self.current, self.frame);
        let frames = self.unwind(tid, depth + 1)?;
        let frame = frames.get(depth).ok_or_else(|| Trouble::Request("there is no such frame".into()))?;
        let all = names.into_iter().zip(0..).map(|(name, number)| {
            let value = frame.registers.get(Register(number));
            Variable { name, value: value.map_or("<not saved>".to_owned(), |value| format!("{value:#x}")) }
        });
        Ok(all.collect())
    }

    /// Where a function is left.
    pub(crate) fn exits_of(&self, function: &Function) -> Exits {
        let mut exits = Exits::default();
        let inside = |address| function.ranges.iter().any(|range| range.contains(&address));
        for range in &function.ranges {
            let mut code = vec![0; (range.end - range.start) as usize];
            if self.view().read(range.start, &mut code).is_ok() {
                displace::exits(&code, range.start, inside, &mut exits);
            }
        }
        exits
    }

    /// What a function returned, which a thread has just left.
    pub(crate) fn returned_value(&mut self, tid: Tid, entry: u64) -> Option<String> {
        let function = self.program.function_at(entry)?;
        let mut images = self.program.images().iter();
        let image = images.position(|loaded| Arc::ptr_eq(&loaded.image, &function.loaded.image))?;
        let at = At { image, die: function.die? };
        let shown = self.look_at(tid, |scope| {
            let datum = scope.returned(at);
            let is_void = datum.unavailable() == Some(Unavailable::NoResult);
            (!is_void).then(|| scope.show(&datum, &Style::default()))
        });
        shown.ok()?
    }

    pub(crate) fn facts(&mut self) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
        add("process", self.engine.process.to_string());
        if let Some(ending) = &self.ended {
            add("ended", ending.to_string());
        }
        for loaded in self.program.images() {
            let debug = match (loaded.image.dwarf(), loaded.image.debug_file(), loaded.image.debug_problem())
            {
                (_, _, Some(problem)) => format!("debug information not usable: {problem}"),
                (Some(_), Some(file), _) => format!("debug information in {}", file.display()),
                (Some(_), None, _) => "with debug information".to_owned(),
                (None, ..) => "symbols only".to_owned(),
            };
            let path: PathBuf = loaded.image.path().to_owned();
            add("image", format!("{} at {:#x}, {debug}", path.display(), loaded.bias));
        }
        facts
    }

    /// Whether the program has gone.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some()
    }
}

fn variables(scope: &Scope<'_>, all: Vec<invigil_debuginfo::value::Variable>) -> Vec<Variable> {
    // Enough to recognise something by; `print` shows all of it.
    let style = Style { elements: 16, depth: 3, text: 80 };
    all.into_iter()
        .filter(|variable| !variable.is_hidden)
        .map(|variable| Variable {
            value: scope.show(&variable.datum, &style),
            name: variable.name.to_owned(),
        })
        .collect()
}

fn line(line: &Line) -> told::Line {
    told::Line { file: line.file.to_path_buf(), line: line.line, column: line.column }
}

fn shown(value: u64, format: char, size: usize) -> String {
    let bits = 8 * size as u32;
    let signed = (value << (64 - bits)) as i64 >> (64 - bits);
    match format {
        'd' => signed.to_string(),
        'u' => value.to_string(),
        'o' => format!("{value:#o}"),
        't' => format!("{value:0width$b}", width = bits as usize),
        'c' => {
            let byte = value as u8;
            format!("{byte} {:?}", char::from(byte))
        }
        'f' if size == 4 => f32::from_bits(value as u32).to_string(),
        'f' => f64::from_bits(value).to_string(),
        _ => format!("0x{value:0width$x}", width = 2 * size),
    }
}
