//! Cranelift module in which functions are generated.

use crate::UnsupportedModel;
use crate::function_emitter::{FunctionEmitter, MAX_DEPTH};
use crate::native_code::CodeMemory;
use crate::ranges::ModelRanges;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, FuncRef, Value};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

/// Builder of functions whose parameters and results are all 64 bits wide.
pub(crate) struct CodegenModule {
    memory: CodeMemory,
    context: cranelift_codegen::Context,
    builder_context: FunctionBuilderContext,
}

fn codegen_error(reason: impl core::fmt::Display) -> UnsupportedModel {
    UnsupportedModel(format!("the code of the model cannot be generated: {reason}"))
}

impl CodegenModule {
    pub(crate) fn new() -> Result<CodegenModule, UnsupportedModel> {
        let mut flags = settings::builder();
        let options = [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ];
        for (name, value) in options {
            flags.set(name, value).map_err(codegen_error)?;
        }
        let isa = cranelift_native::builder().map_err(codegen_error)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(codegen_error)?;
        if isa.pointer_bits() != 64 {
            return Err(codegen_error("64-bit addresses are required"));
        }
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let context = module.make_context();
        Ok(CodegenModule {
            memory: CodeMemory::new(module),
            context,
            builder_context: FunctionBuilderContext::new(),
        })
    }

    /// Declares a function with this number of parameters.
    pub(crate) fn declare(&mut self, parameters: usize) -> Result<FuncId, UnsupportedModel> {
        let signature = self.signature(parameters);
        self.memory.module_mut()?.declare_anonymous_function(&signature).map_err(codegen_error)
    }

    fn signature(&self, parameters: usize) -> cranelift_codegen::ir::Signature {
        let mut signature = cranelift_codegen::ir::Signature::new(self.memory.call_convention());
        signature.params.resize(parameters, AbiParam::new(I64));
        signature.returns.push(AbiParam::new(I64));
        signature
    }

    /// Defines a function. `body` emits it, given its parameters and the functions that it may call.
    pub(crate) fn define<'a>(
        &mut self,
        function: FuncId,
        parameters: usize,
        model_ranges: &'a ModelRanges<'a>,
        calls: &[FuncId],
        body: impl FnOnce(&mut FunctionEmitter<'a, '_>, &[Value], &[FuncRef]),
    ) -> Result<(), UnsupportedModel> {
        self.context.func.signature = self.signature(parameters);
        let module = self.memory.module_mut()?;
        let in_function = |id: &FuncId| module.declare_func_in_func(*id, &mut self.context.func);
        let calls: Vec<FuncRef> = calls.iter().map(in_function).collect();
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let values = builder.block_params(entry).to_vec();
        let mut emit = FunctionEmitter::new(builder, model_ranges);
        body(&mut emit, &values, &calls);
        let is_too_deep = emit.is_too_deep;
        emit.builder.seal_all_blocks();
        emit.builder.finalize(module.target_config());
        if is_too_deep {
            return Err(UnsupportedModel(format!(
                "an expression or statement of the model is nested more than {MAX_DEPTH} deep: \
                 split it, or let the model be interpreted"
            )));
        }
        module.define_function(function, &mut self.context).map_err(codegen_error)?;
        module.clear_context(&mut self.context);
        Ok(())
    }

    /// Finalises the module and returns its memory, ready to run.
    pub(crate) fn finish(self) -> Result<CodeMemory, UnsupportedModel> {
        let mut memory = self.memory;
        memory.module_mut()?.finalize_definitions().map_err(codegen_error)?;
        Ok(memory)
    }
}
