"""The functions that Dynamo calls with each code object that it creates."""

from __future__ import annotations

import types
import weakref
from collections.abc import Mapping

from depyf.model.names import RESUME_AT, compiled_fn_number, without_random_part
from depyf.model.run import CompileId
from depyf.torch.adapters import entry_ids, seams
from depyf.torch.capture.entries import relate
from depyf.torch.capture.recorder import CallSite, Recorder, Running
from depyf.torch.capture.wrapper_names import note_wrappers
from depyf.trace.directory import Dump


def on_code(
    recorder: Recorder,
    dump: Dump,
    code: types.CodeType,
    new_code: types.CodeType,
    *,
    log_bytecode: bool,
    install: bool,
) -> types.CodeType | None:
    """Write the source of Dynamo's `new_code`; return the code to run instead, or None for Dynamo's own.

    Args:
        recorder: the compiles of the context.
        dump: takes the files.
        code: the code of the user's function.
        new_code: the code that Dynamo made for it.
        log_bytecode: whether to write listings of the bytecode, too.
        install: whether the code of the file replaces Dynamo's if it is proven.
    """
    current = seams.current_compile()
    if current is None:
        return None
    return show_code(recorder, dump, current[0], code, new_code, log_bytecode=log_bytecode, install=install)


def show_code(
    recorder: Recorder,
    dump: Dump,
    compile_id: CompileId,
    code: types.CodeType,
    new_code: types.CodeType,
    *,
    log_bytecode: bool,
    install: bool,
) -> types.CodeType | None:
    """Write the source of the code that Dynamo created in a compile; return as `on_code` does.

    Args:
        recorder: the compiles of the context.
        dump: takes the files.
        compile_id: the id of the compile.
        code: the code of the user's function.
        new_code: the code that Dynamo made for it.
        log_bytecode: whether to write listings of the bytecode, too.
        install: whether the code of the file replaces Dynamo's if it is proven.
    """
    # Import the decompiler only when there is something to decompile.
    from depyf.torch.capture.transform import Subject, transform, write_without_source

    running = recorder.begun(compile_id, code)
    join(recorder, running, code, new_code)
    root = recorder.session.functions[running.function.root]
    subject = Subject(running, root, code, new_code)
    try:
        transformed = transform(subject, dump, recorder.equal_codes(), log_bytecode=log_bytecode, install=install)
    except Exception as error:
        write_without_source(subject, dump, error)
        entry_ids.note(new_code, compile_id)
        raise
    entry_ids.note(transformed or new_code, compile_id)
    _note_wrappers(recorder, running, new_code)
    return transformed


def write_code(running: Running) -> None:
    """Write the file of a compile's code, which has waited for the guards."""
    write, running.unwritten = running.unwritten, None
    if write is not None:
        write()


def tell_reason(recorder: Recorder, running: Running, dump: Dump) -> None:
    """Write into the file of a compile why it was made, when all guards that refused the call are known.

    Args:
        recorder: the compiles of the context.
        running: the compile.
        dump: has the file.
    """
    if running.unwritten is not None:
        write_code(running)
    elif running.reason:
        from depyf.torch.capture.transform import write_reason

        write_reason(recorder.session.functions[running.function.root], running, dump)


def _note_wrappers(recorder: Recorder, running: Running, new_code: types.CodeType) -> None:
    """Write the meaning of names into the files of AOTAutograd's wrappers."""
    scope = seams.globals_in_progress()
    if isinstance(scope, Mapping):
        graphs = [scope[name] for name in new_code.co_names if compiled_fn_number(name) is not None and name in scope]
        if note_wrappers(running.compile, graphs):
            recorder.write_wrappers(running)


def join(recorder: Recorder, running: Running, code: types.CodeType, new_code: types.CodeType) -> None:
    """Record what the code calls, and write the graphs that waited for their names.

    Args:
        recorder: the compiles of the context.
        running: the compile of the code.
        code: the code of the user's function.
        new_code: the code that Dynamo made for it.
    """
    with recorder.lock:
        running.code = code.replace()
        running.live_code = weakref.ref(code)
        graphs = [name for name in new_code.co_names if compiled_fn_number(name) is not None]
        running.compile.compiled_fns = tuple(without_random_part(name) for name in graphs)
        running.compile.resumes = tuple(name for name in new_code.co_names if name.startswith(RESUME_AT))
        for constant in new_code.co_consts:
            if isinstance(constant, types.CodeType) and constant.co_name.startswith(seams.RESUME_PREFIX):
                # Before 2.11 a resume function with free variables is created in an expression and is not global.
                recorder.call_sites[constant] = CallSite(running, "")
        recorder.write_nameless(running)
        relate(recorder, running, code)
