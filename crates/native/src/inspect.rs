//! Inspecting and changing the stopped target.

use crate::displaced_step::{self, FunctionExits};
use crate::events::fetch_registers;
use crate::linespec;
use crate::native_target::NativeTarget;
use crate::sys::Tid;
use crate::tracer::trace_error;
use crate::watchpoints;
use gimli::Register;
use invigil_debuginfo::machine::{Memory, RIP};
use invigil_debuginfo::program::{Function, Line};
use invigil_debuginfo::unwinding::Frame as UnwoundFrame;
use invigil_debuginfo::value::info::DieRef;
use invigil_debuginfo::value::typed_value::Unavailable;
use invigil_debuginfo::value::{
    Expression, ExpressionError, Extractor, FormatLimits, PendingWrite, RegisterNeeds, Scalar, ScalarKind,
    Scope, TypedValue, ValueRequest,
};
use invigil_target::{self as api, TargetError, TargetResult, Variable};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Number of frames that one expression may refer to.
const MAX_FRAMES: usize = 256;
/// Largest number of values shown by one command.
const MAX_VALUES: usize = 1 << 16;

fn request_error(error: &ExpressionError) -> TargetError {
    TargetError::Request(error.to_string())
}

fn parse(text: &str) -> TargetResult<Expression> {
    Expression::parse(text).map_err(|error| request_error(&error))
}

impl NativeTarget {
    /// The frames of a thread, innermost first.
    pub(crate) fn unwind(&mut self, tid: Tid, limit: usize) -> TargetResult<Vec<UnwoundFrame>> {
        let regs = self.tracer.thread(tid)?.registers().map_err(trace_error)?;
        let registers = fetch_registers(tid, &regs, RegisterNeeds::Vector);
        Ok(self.program.unwind(&registers, &self.clean_memory(), limit))
    }

    /// Calls a function with the scope of the selected frame.
    fn with_scope<T>(&mut self, action: impl FnOnce(&Scope<'_>) -> TargetResult<T>) -> TargetResult<T> {
        if let Some(ending) = &self.termination {
            return Err(TargetError::Ended(ending.clone()));
        }
        self.tracer.stop_all()?;
        let (tid, level) = (self.current, self.frame);
        // An expression may refer to callers: `^x`.
        let frames = self.unwind(tid, MAX_FRAMES.max(level.saturating_add(2)))?;
        let memory = self.clean_memory();
        action(&Scope::new(&self.program, &self.types, &memory, &frames, level))
    }

    /// The same for the innermost frame of a thread, without stopping the others.
    pub(crate) fn with_innermost_scope<T>(
        &mut self,
        tid: Tid,
        action: impl FnOnce(&Scope<'_>) -> T,
    ) -> TargetResult<T> {
        let frames = self.unwind(tid, 8)?;
        let memory = self.clean_memory();
        Ok(action(&Scope::new(&self.program, &self.types, &memory, &frames, 0)))
    }

    pub(crate) fn evaluate(&mut self, text: &str) -> TargetResult<String> {
        let expression = parse(text)?;
        self.with_scope(|scope| {
            let typed_value = scope.evaluate(&expression).map_err(|error| request_error(&error))?;
            Ok(scope.show(&typed_value, &FormatLimits::default()))
        })
    }

    pub(crate) fn type_of(&mut self, text: &str) -> TargetResult<String> {
        let expression = parse(text)?;
        self.with_scope(|scope| {
            let typed_value = scope.evaluate(&expression).map_err(|error| request_error(&error))?;
            Ok(scope.type_name(&typed_value.ty))
        })
    }

    /// Checks the syntax of an expression.
    pub(crate) fn check_expression(&self, text: &str) -> TargetResult {
        parse(text).map(drop)
    }

    /// Checks whether the names of an expression are known at an address. Code without debug information accepts all
    /// names.
    pub(crate) fn check_names(&self, text: &str, address: u64) -> TargetResult {
        let request = ValueRequest::Expression(parse(text)?);
        let function = self.program.function_at(address).filter(|function| function.has_debug);
        let checked = function.map(|function| {
            Extractor::compile(&self.program, &self.types, &function, address, &request, ScalarKind::Any)
        });
        checked.transpose().map(drop).map_err(|error| request_error(&error))
    }

    /// Evaluates a condition in the current thread.
    pub(crate) fn evaluates_to_true(&mut self, text: &str) -> TargetResult<bool> {
        let expression = parse(text)?;
        let tid = self.current;
        let scalar = self.with_innermost_scope(tid, |scope| {
            let typed_value = scope.evaluate(&expression).map_err(|error| request_error(&error))?;
            TargetResult::Ok(scope.to_scalar(&typed_value, ScalarKind::Bool))
        })??;
        match scalar {
            Scalar::Int(i) => Ok(i != 0),
            Scalar::Bool(b) => Ok(b),
            Scalar::Float(f) => Ok(f != 0.0),
            Scalar::Str(text) => Ok(!text.is_empty()),
            Scalar::Unavailable(why) => Err(TargetError::Request(why.to_string())),
        }
    }

    /// Evaluates an expression to an object in memory, with its address range.
    pub(crate) fn extent_of(&mut self, text: &str) -> TargetResult<(TypedValue, Range<u64>)> {
        let expression = parse(text)?;
        let tid = self.current;
        let (typed_value, range) = self.with_innermost_scope(tid, |scope| {
            let typed_value = scope.evaluate(&expression).map_err(|error| request_error(&error))?;
            let (start, length) =
                scope.extent(&typed_value).ok_or_else(|| NativeTarget::not_in_memory_error(text))?;
            Ok::<_, TargetError>((typed_value, watchpoints::watchable_range(start, length)?))
        })??;
        self.check_mapped(&range)?;
        Ok((typed_value, range))
    }

    /// Reads the current value of an object.
    pub(crate) fn read_scalar(&mut self, tid: Tid, typed_value: &TypedValue) -> Scalar {
        let read = self.with_innermost_scope(tid, |scope| scope.to_scalar(typed_value, ScalarKind::Any));
        read.unwrap_or(Scalar::Unavailable(Unavailable::NoRegister(RIP.0)))
    }

    pub(crate) fn assign(&mut self, location: &str, value: &str) -> TargetResult {
        let (to, from) = (parse(location)?, parse(value)?);
        let changes =
            self.with_scope(|scope| scope.assign(&to, &from).map_err(|error| request_error(&error)))?;
        for change in changes {
            match change {
                PendingWrite::Memory { address, bytes } => {
                    if !self.tracer.sites.write_around(&self.tracer.memory, address, &bytes) {
                        return Err(TargetError::Request(format!(
                            "the memory at {address:#x} cannot be changed"
                        )));
                    }
                }
                PendingWrite::Register { number, value } => self.set_register(number.0, value as u64)?,
            }
        }
        Ok(())
    }

    fn set_register(&mut self, number: u16, value: u64) -> TargetResult {
        if self.frame != 0 {
            return Err(TargetError::Request("registers can be changed in the innermost frame only".into()));
        }
        let thread = self.tracer.thread(self.current)?;
        let mut regs = thread.registers().map_err(trace_error)?;
        let register = match number {
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
            _ => return Err(TargetError::Request("this register cannot be changed".into())),
        };
        *register = value;
        thread.set_registers(regs);
        if number == 16 {
            // The thread is elsewhere now; owners there are still to be notified.
            thread.at_site = None;
            thread.notified = Default::default();
        }
        thread.write_back_registers().map_err(trace_error)
    }

    pub(crate) fn frames(&mut self, limit: usize) -> TargetResult<Vec<api::Frame>> {
        if let Some(ending) = &self.termination {
            return Err(TargetError::Ended(ending.clone()));
        }
        self.tracer.stop_all()?;
        let tid = self.current;
        let frames = self.unwind(tid, limit.saturating_add(2))?;
        let memory = self.clean_memory();
        let all = frames.iter().enumerate().take(limit).map(|(level, frame)| {
            let scope = Scope::new(&self.program, &self.types, &memory, &frames, level);
            let image = self.program.image_at(frame.lookup());
            api::Frame {
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

    fn function_name(&self, frame: &UnwoundFrame) -> String {
        match &frame.function {
            Some(function) => function.name.clone(),
            None => match self.program.symbol_at(frame.lookup()) {
                Some((name, _)) => name,
                None => "??".to_owned(),
            },
        }
    }

    pub(crate) fn locals(&mut self) -> TargetResult<Vec<Variable>> {
        self.with_scope(|scope| Ok(variables(scope, scope.locals())))
    }

    pub(crate) fn select_frame(&mut self, depth: usize) -> TargetResult {
        let tid = self.current;
        self.tracer.stop_all()?;
        let frames = self.unwind(tid, depth.saturating_add(1))?;
        if depth >= frames.len() {
            return Err(TargetError::Request(format!("there are only {} frames", frames.len())));
        }
        self.frame = depth;
        Ok(())
    }

    pub(crate) fn select_thread(&mut self, id: u32) -> TargetResult {
        self.tracer.stop_all()?;
        let tid = id as Tid;
        if !self.tracer.threads.contains_key(&tid) {
            return Err(TargetError::Request(format!("there is no thread {id}; see `info threads`")));
        }
        (self.current, self.frame) = (tid, 0);
        Ok(())
    }

    pub(crate) fn threads(&mut self) -> Vec<api::Thread> {
        if self.termination.is_some() || self.tracer.stop_all().is_err() {
            return Vec::new();
        }
        let threads =
            self.tracer.threads.values().filter(|thread| !thread.is_foreign_process && !thread.zombie);
        let all: Vec<Tid> = threads.map(|thread| thread.tid).collect();
        let mut threads = Vec::new();
        for tid in all {
            let path = format!("/proc/{}/task/{tid}/comm", self.tracer.process);
            let name = std::fs::read_to_string(path).unwrap_or_default().trim_end().to_owned();
            let at = match self.tracer.thread(tid).and_then(|thread| thread.pc().map_err(trace_error)) {
                Ok(pc) => self.describe(pc),
                Err(_) => String::new(),
            };
            threads.push(api::Thread { id: tid as u32, name, location: at, selected: tid == self.current });
        }
        threads
    }

    /// Describes an address: `queue_push (faulty.c:29)`, or the number.
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

    /// Describes the location of the current thread.
    pub(crate) fn current_location(&mut self) -> String {
        let pc = self.tracer.thread(self.current).and_then(|thread| thread.pc().map_err(trace_error));
        let Ok(pc) = pc else { return String::new() };
        let name = self.program.symbol_at(pc).map_or_else(|| format!("{pc:#x}"), |(name, _)| name);
        self.with_line(name, pc)
    }

    /// Source line of the selected frame.
    pub(crate) fn selected_line(&mut self) -> Option<Line> {
        let (tid, depth) = (self.current, self.frame);
        let frames = self.unwind(tid, depth + 1).ok()?;
        frames.get(depth)?.line.clone()
    }

    pub(crate) fn source_line(&mut self, name: Option<&str>) -> TargetResult<Option<api::SourceLine>> {
        if self.termination.is_none() {
            self.tracer.stop_all()?;
        }
        let selected_line = if self.termination.is_none() { self.selected_line() } else { None };
        let Some(name) = name else { return Ok(selected_line.as_ref().map(line)) };
        let found = linespec::resolve(&self.program, &self.clean_memory(), selected_line.as_ref(), name)
            .map_err(|missing| TargetError::Request(missing.message()))?;
        let first = found.addresses().first().copied();
        Ok(first.and_then(|address| self.program.line_of(address)).as_ref().map(line))
    }

    pub(crate) fn examine_memory(
        &mut self,
        text: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> TargetResult<Vec<String>> {
        let expression = parse(text)?;
        let start = self.with_scope(|scope| {
            let typed_value = scope.evaluate(&expression).map_err(|error| request_error(&error))?;
            match (scope.to_scalar(&typed_value, ScalarKind::Address), scope.extent(&typed_value)) {
                (Scalar::Int(address), _) => Ok(address as u64),
                (_, Some((address, _))) => Ok(address),
                (Scalar::Unavailable(why), _) => Err(TargetError::Request(why.to_string())),
                _ => Err(TargetError::Request(format!("`{text}` is not an address"))),
            }
        })?;
        if count > MAX_VALUES {
            return Err(TargetError::Request(format!("at most {MAX_VALUES} values can be shown at a time")));
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
            // There is nothing beyond the last address.
            let Some(at) = start.checked_add((row * 16) as u64) else { break };
            let mut values = Vec::new();
            for index in 0..per_line.min(count - first) {
                let Some(address) = at.checked_add((index * size) as u64) else { break };
                let mut bytes = [0; 8];
                if self.clean_memory().read(address, &mut bytes[..size]).is_err() {
                    values.push("?".repeat(2 * size));
                    continue;
                }
                values.push(format_value(u64::from_le_bytes(bytes), format, size));
            }
            lines.push(format!("{at:#x}:  {}", values.join("  ")));
        }
        Ok(lines)
    }

    fn strings(&mut self, start: u64, count: usize) -> TargetResult<Vec<String>> {
        let mut at = start;
        let mut lines = Vec::new();
        for _ in 0..count {
            let text = invigil_debuginfo::value::text_at(&self.clean_memory(), at)
                .ok_or_else(|| TargetError::Request(format!("the memory at {at:#x} cannot be read")))?;
            lines.push(format!("{at:#x}:  {text:?}"));
            let Some(next) = at.checked_add(text.len() as u64 + 1) else { break };
            at = next;
        }
        Ok(lines)
    }

    fn disassemble(&mut self, start: u64, count: usize) -> TargetResult<Vec<String>> {
        use iced_x86::{Decoder, DecoderOptions};
        let mut code = vec![0; 15 * count.min(4096)];
        let read = self.tracer.memory.read_some(start, &mut code);
        self.tracer.sites.mask_traps(start, &mut code[..read]);
        if read == 0 {
            return Err(TargetError::Request(format!("the memory at {start:#x} cannot be read")));
        }
        let all = Decoder::with_ip(64, &code[..read], start, DecoderOptions::NONE);
        let shown = all.into_iter().take(count).map(|instruction| {
            format!("{:#x} <{}>:  {instruction}", instruction.ip(), self.describe(instruction.ip()))
        });
        Ok(shown.collect())
    }

    pub(crate) fn registers(&mut self) -> TargetResult<Vec<Variable>> {
        let names = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"].map(str::to_owned).into_iter();
        let names: Vec<String> =
            names.chain((8..16).map(|n| format!("r{n}"))).chain(["rip".to_owned()]).collect();
        self.tracer.stop_all()?;
        let (tid, depth) = (self.current, self.frame);
        let frames = self.unwind(tid, depth + 1)?;
        let frame = frames.get(depth).ok_or_else(|| TargetError::Request("there is no such frame".into()))?;
        let all = names.into_iter().zip(0..).map(|(name, number)| {
            let value = frame.registers.get(Register(number));
            Variable { name, value: value.map_or("<not saved>".to_owned(), |value| format!("{value:#x}")) }
        });
        Ok(all.collect())
    }

    /// The exits of a function.
    pub(crate) fn exits_of(&self, function: &Function) -> FunctionExits {
        let mut exits = FunctionExits::default();
        let inside = |address| function.ranges.iter().any(|range| range.contains(&address));
        for range in &function.ranges {
            let mut code = vec![0; (range.end - range.start) as usize];
            if self.clean_memory().read(range.start, &mut code).is_ok() {
                displaced_step::exits(&code, range.start, inside, &mut exits);
            }
        }
        exits
    }

    /// Shows the value that a function returned, which the thread has just left.
    pub(crate) fn returned_value(&mut self, tid: Tid, entry: u64) -> Option<String> {
        let function = self.program.function_at(entry)?;
        let mut images = self.program.images().iter();
        let image = images.position(|loaded| Arc::ptr_eq(&loaded.image, &function.mapped.image))?;
        let at = DieRef { image, die: function.die? };
        let shown = self.with_innermost_scope(tid, |scope| {
            let typed_value = scope.returned(at);
            let is_void = typed_value.unavailable_reason() == Some(Unavailable::NoResult);
            (!is_void).then(|| scope.show(&typed_value, &FormatLimits::default()))
        });
        shown.ok()?
    }

    pub(crate) fn info(&mut self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        let mut add = |name: &str, value: String| entries.push((name.to_owned(), value));
        add("process", self.tracer.process.to_string());
        if let Some(ending) = &self.termination {
            add("ended", ending.to_string());
        }
        for loaded in self.program.images() {
            let debug =
                match (loaded.image.dwarf(), loaded.image.debug_file(), loaded.image.debug_info_error()) {
                    (_, _, Some(error)) => format!("debug information not usable: {error}"),
                    (Some(_), Some(file), _) => format!("debug information in {}", file.display()),
                    (Some(_), None, _) => "with debug information".to_owned(),
                    (None, ..) => "symbols only".to_owned(),
                };
            let path: PathBuf = loaded.image.path().to_owned();
            add("image", format!("{} at {:#x}, {debug}", path.display(), loaded.bias));
        }
        entries
    }

    /// Whether the process has ended.
    pub(crate) fn has_exited(&self) -> bool {
        self.termination.is_some()
    }
}

fn variables(scope: &Scope<'_>, all: Vec<invigil_debuginfo::value::Variable>) -> Vec<Variable> {
    // Enough to recognise a value; `print` shows all of it.
    let limits = FormatLimits { elements: 16, depth: 3, text: 80 };
    all.into_iter()
        .filter(|variable| !variable.is_hidden)
        .map(|variable| Variable {
            value: scope.show(&variable.value, &limits),
            name: variable.name.to_owned(),
        })
        .collect()
}

fn line(line: &Line) -> api::SourceLine {
    api::SourceLine { file: line.file.to_path_buf(), line: line.line, column: line.column }
}

fn format_value(value: u64, format: char, size: usize) -> String {
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
