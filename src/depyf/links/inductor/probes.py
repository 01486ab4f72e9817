"""Add probes to Inductor's module: each line of a kernel records its value, and each launch that it is done.

before: `tmp3 = tmp1 * tmp2`, and in C++ `auto tmp3 = tmp1 * tmp2;`
after: `tmp3 = tmp1 * tmp2; _depyf_note(12, "tmp3", locals())`, and `auto tmp3 = tmp1 * tmp2; depyf_note(12, tmp3, 16);`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from depyf.links.inductor.buffers import result_of
from depyf.links.inductor.lanes import conditions
from depyf.links.inductor.module import Kernel, Module
from depyf.links.inductor.statements import Statement, statements

FILE_VARIABLE = "DEPYF_PROBES"
"""The environment variable with the file to which C++ kernels write the values of their lines."""

MOST_VALUES = 1 << 20
"""The most values that are written for a line of a C++ kernel. Of further values, only NaN and infinity are written."""

COUNTED = 1 << 16
"""Added to the number of a line if only its values in the active lanes are written."""

_VALUE = re.compile(r"tmp\d+$")
_COUNT = re.compile(r"(?:loadu|store|from)\(.*, static_cast<int64_t>\((?P<count>[^()]+)\)\)")
_VECTOR_STORE = re.compile(r"^\s*(?P<value>.+?)\.store\(")


def probed(
    text: str,
    module: Module,
    receiver: str,
    key: int,
    *,
    inside: bool = True,
    libraries: bool = False,
    only: tuple[str, int] | None = None,
) -> str:
    """Return the text of a module with probes that call the functions of the module `receiver` with `key`.

    inside: probe the lines of kernels, and not only the launches.
    libraries: probe the results of libraries' kernels, too.
    only: the only line of a C++ kernel that is probed, by the kernel's name and the number in its text; None for all.
    """
    rows = text.splitlines()
    for kernel in module.kernels.values() if inside else ():
        lines = kernel.text.splitlines()
        if rows[kernel.first - 1 : kernel.first - 1 + len(lines)][1:] == lines[1:]:
            for number, row in _of_kernel(kernel, lines, receiver, only):
                rows[kernel.first + number - 2] = row
    for end, index, arguments in _launches(text, module):
        rows[end - 1] += f"; _depyf.ran({key}, {index}, ({''.join(f'{argument}, ' for argument in arguments)}))"
    for end, index, result in _results(text, module) if libraries else ():
        rows[end - 1] += f"; _depyf.returned({key}, {index}, {result})"
    begin = next((number for number, row in enumerate(rows) if row.startswith("async_compile = ")), 0)
    rows[begin] = f"import {receiver} as _depyf\n{rows[begin]}"
    return "\n".join([*rows, f"call = _depyf.watched({key}, call)", ""])


def _launches(text: str, module: Module) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the end of each launch of a kernel, its position among all, and its arguments."""
    ends = {node.lineno: node.end_lineno or 0 for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    for index, launch in enumerate(module.launches):
        if launch.kernel in module.kernels:
            yield ends[launch.line], index, launch.arguments


def _results(text: str, module: Module) -> Iterator[tuple[int, int, str]]:
    """Yield the end of each call of a library's kernel, its position among all launches, and its result's name."""
    ends = {node.lineno: node.end_lineno or 0 for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    for index, launch in enumerate(module.launches):
        result = result_of(launch)
        if launch.kernel and launch.kernel not in module.kernels and result:
            yield ends[launch.line], index, result


def _of_kernel(
    kernel: Kernel, rows: list[str], receiver: str, only: tuple[str, int] | None
) -> Iterator[tuple[int, str]]:
    """Yield the rows of a kernel's text that get a probe, by number from 1."""
    if kernel.language == "triton":
        yield from _of_triton(kernel, rows, receiver)
        return
    for number, row in _of_cpp(kernel, rows):
        if only is None or only == (kernel.name, number) or "depyf_note(" not in row.replace(_CPP, ""):
            yield number, row


def _of_triton(kernel: Kernel, rows: list[str], receiver: str) -> Iterator[tuple[int, str]]:
    begin = next(number for number, row in enumerate(rows, start=1) if row.startswith("import triton"))
    yield begin, f"{rows[begin - 1]}; from {receiver} import note as _depyf_note, stored as _depyf_stored"
    kernel_statements = statements(kernel)
    needed = conditions(kernel_statements)
    for statement in kernel_statements:
        end = statement.value.end_lineno if statement.place is None else statement.line
        if end is not None and (statement.place is not None or _sets_value(statement)):
            yield end, f"{rows[end - 1]}; {_triton_probe(statement, needed.get(statement.line, ()))}"


def _of_cpp(kernel: Kernel, rows: list[str]) -> Iterator[tuple[int, str]]:
    begin = next((number for number, row in enumerate(rows, start=1) if 'extern "C"' in row), len(rows))
    yield begin, f"{_CPP}{rows[begin - 1]}"
    body = next((number for number, row in enumerate(rows, start=1) if number > begin and row.strip() == "{"), 0)
    if body:
        yield body, "{ DepyfKernel depyf_kernel;"
    counts, blocks = _lanes(rows), _blocks(rows)
    kernel_statements = statements(kernel)
    needed, declared = conditions(kernel_statements), dict[str, int]()
    for statement in kernel_statements:
        value = _cpp_value(rows[statement.line - 1], statement)
        declared.update(dict.fromkeys(statement.targets, statement.line))
        if not body or statement.line <= body or not value:
            continue
        row = f"{rows[statement.line - 1]} depyf_note({statement.line}, {value}, {counts[statement.line - 1]});"
        masks = needed.get(statement.line, ())
        if masks and all(
            blocks[declared[name] - 1][-1] in blocks[statement.line - 1] for name in masks if name in declared
        ):
            kept = " && ".join(f"depyf_is_kept({name}, depyf_lane)" for name in masks)
            row += f" depyf_note({statement.line + COUNTED}, {value}, {counts[statement.line - 1]}, "
            row += f"[&](int depyf_lane) {{ return {kept}; }});"
        yield statement.line, row


def _sets_value(statement: Statement) -> bool:
    return any(_VALUE.match(target) for target in statement.targets)


def _triton_probe(statement: Statement, needed: tuple[str, ...]) -> str:
    if statement.place is None:
        name = next(target for target in statement.targets if _VALUE.match(target))
        return f'_depyf_note({statement.line}, "{name}", locals(), {needed})'
    place, value = ast.unparse(statement.place), ast.unparse(statement.value)
    return f"_depyf_stored({statement.line}, {place}, {value}, locals())"


def _cpp_value(row: str, statement: Statement) -> str:
    """Return the value of a row of a C++ kernel as an expression, or "" if the row has no probe."""
    if row.strip().startswith("return "):
        return ""
    if statement.place is None:
        return next((target for target in statement.targets[:1] if _VALUE.match(target)), "")
    stored = _VECTOR_STORE.match(row)
    return stored["value"] if stored is not None else row.partition(" = ")[0].strip()


def _lanes(rows: list[str]) -> list[str]:
    """Return for each row the number of active vector lanes, from the loads and stores of its block; -1 for all."""
    blocks, counts = _blocks(rows), dict[int, str]()
    for block, row in zip(blocks, rows):
        lane_count = _COUNT.search(row)
        if lane_count is not None:
            counts.setdefault(block[-1], lane_count["count"])
    return [counts.get(block[-1], "-1") for block in blocks]


def _blocks(rows: list[str]) -> list[tuple[int, ...]]:
    """Return for each row its enclosing blocks, innermost last, by the number of the row that opens each."""
    opened, enclosing = [0], list[tuple[int, ...]]()
    for number, row in enumerate(rows):
        enclosing.append(tuple(opened))
        for character in row:
            if character == "{":
                opened.append(number + 1)
            elif character == "}" and len(opened) > 1:
                opened.pop()
    return enclosing


_CPP = """#include <cmath>
static std::FILE* depyf_file = nullptr;
static std::atomic<int64_t> depyf_counts[1 << 12];
struct DepyfKernel {
    DepyfKernel() {
        const char* name = std::getenv("DEPYF_PROBES");
        depyf_file = name == nullptr ? nullptr : std::fopen(name, "ab");
        for (auto& each : depyf_counts) each = 0;
    }
    ~DepyfKernel() { if (depyf_file != nullptr) std::fclose(depyf_file); depyf_file = nullptr; }
};
static inline void depyf_write(int line, const double* values, int count) {
    if (depyf_file == nullptr || count <= 0) return;
    if ((depyf_counts[(line + (line >> 16 << 11)) & 4095] += count) > (1 << 20)) {
        bool is_finite = true;
        for (int i = 0; i < count; ++i) is_finite = is_finite && std::isfinite(values[i]);
        if (is_finite) return;
    }
    double record[1025];
    int head[2] = {line, count};
    std::memcpy(record, head, sizeof(double));
    std::memcpy(record + 1, values, count * sizeof(double));
    std::fwrite(record, sizeof(double), count + 1, depyf_file);
}
static inline bool depyf_all(int) { return true; }
template <typename M> inline bool depyf_is_kept(const M& mask, int) {
    if constexpr (std::is_same_v<M, bool>) return mask;
    else return true;
}
template <typename T, typename F = bool (*)(int)>
inline void depyf_note(int line, const T& value, int64_t, F is_kept = depyf_all) {
    if constexpr (std::is_arithmetic_v<T>) {
        double kept = static_cast<double>(value);
        depyf_write(line, &kept, is_kept(0) ? 1 : 0);
    } else if constexpr (std::is_convertible_v<T, float>) {
        double kept = static_cast<double>(static_cast<float>(value));
        depyf_write(line, &kept, is_kept(0) ? 1 : 0);
    }
}
template <typename V, typename F> inline void depyf_lanes(int line, V value_at, int size, int64_t lanes, F is_kept) {
    double values[1024];
    int kept = 0, count = lanes < 0 || lanes > size ? size : static_cast<int>(lanes);
    for (int i = 0; i < count; ++i) {
        if (is_kept(i)) values[kept++] = value_at(i);
    }
    depyf_write(line, values, kept);
}
template <typename T, typename V, typename F>
inline void depyf_vector(int line, const V& value, int size, int64_t lanes, F is_kept) {
    T all[1024];
    value.store(all);
    depyf_lanes(line, [&](int i) {
        if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(all[i]);
        else return static_cast<double>(static_cast<float>(all[i]));
    }, size, lanes, is_kept);
}
#if INDUCTOR_USE_VECTOR_TYPES()
template <typename T, int N> inline bool depyf_is_kept(const at::vec::VecMask<T, N>& mask, int lane) {
    return mask.is_masked(lane);
}
template <typename T, typename F = bool (*)(int)>
inline void depyf_note(int line, const at::vec::Vectorized<T>& value, int64_t lanes, F is_kept = depyf_all) {
    depyf_vector<T>(line, value, at::vec::Vectorized<T>::size(), lanes, is_kept);
}
template <typename T, int N, typename F = bool (*)(int)>
inline void depyf_note(int line, const at::vec::VectorizedN<T, N>& value, int64_t lanes, F is_kept = depyf_all) {
    depyf_vector<T>(line, value, at::vec::VectorizedN<T, N>::size(), lanes, is_kept);
}
template <typename T, int N, typename F = bool (*)(int)>
inline void depyf_note(int line, const at::vec::VecMask<T, N>& value, int64_t lanes, F is_kept = depyf_all) {
    int size = at::vec::VecMask<T, N>::size();
    depyf_lanes(line, [&](int i) { return value.is_masked(i) ? 1.0 : 0.0; }, size, lanes, is_kept);
}
#endif
"""
"""The functions that the probes of a C++ kernel call. A record has the line and the number of values, 4 bytes each, and
then the values."""
