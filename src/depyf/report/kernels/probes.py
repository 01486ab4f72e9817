"""Inductor's module with probes: each line of a kernel says what it gives, each launch that it is done.

before: `tmp3 = tmp1 * tmp2`, and in C++ `auto tmp3 = tmp1 * tmp2;`
after: `tmp3 = tmp1 * tmp2; _depyf_note(12, "tmp3", locals())`, and `auto tmp3 = tmp1 * tmp2; depyf_note(12, tmp3, 16);`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from depyf.report.kernels.module import Kernel, Module
from depyf.report.kernels.statements import Statement, statements

FILE_VARIABLE = "DEPYF_PROBES"
"""The environment variable that names the file to which C++ kernels write what their lines give."""

MOST_VALUES = 1 << 20
"""Of a line of a C++ kernel so many values are written; beyond them only those that are not finite."""

_VALUE = re.compile(r"tmp\d+$")
_COUNT = re.compile(r"(?:loadu|store|from)\(.*, static_cast<int64_t>\((?P<count>[^()]+)\)\)")
_VECTOR_STORE = re.compile(r"^\s*(?P<value>.+?)\.store\(")


def probed(text: str, module: Module, receiver: str, key: int) -> str:
    """Return the text of a module with probes, which call the functions of the module `receiver` with `key`."""
    rows = text.splitlines()
    for kernel in module.kernels.values():
        own = kernel.text.splitlines()
        if rows[kernel.first - 1 : kernel.first - 1 + len(own)][1:] == own[1:]:
            for number, row in _of_kernel(kernel, own, receiver):
                rows[kernel.first + number - 2] = row
    for end, index, arguments in _launches(text, module):
        rows[end - 1] += f"; _depyf.ran({key}, {index}, ({''.join(f'{each}, ' for each in arguments)}))"
    begin = next((number for number, row in enumerate(rows) if row.startswith("async_compile = ")), 0)
    rows[begin] = f"import {receiver} as _depyf\n{rows[begin]}"
    return "\n".join([*rows, f"call = _depyf.watched({key}, call)", ""])


def _launches(text: str, module: Module) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield where each launch of a kernel ends, its place among all, and its arguments."""
    ends = {node.lineno: node.end_lineno or 0 for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    for index, launch in enumerate(module.launches):
        if launch.kernel in module.kernels:
            yield ends[launch.line], index, launch.arguments


def _of_kernel(kernel: Kernel, rows: list[str], receiver: str) -> Iterator[tuple[int, str]]:
    """Yield the rows of a kernel's text that get a probe, by number from 1."""
    yield from _of_triton(kernel, rows, receiver) if kernel.language == "triton" else _of_cpp(kernel, rows)


def _of_triton(kernel: Kernel, rows: list[str], receiver: str) -> Iterator[tuple[int, str]]:
    begin = next(number for number, row in enumerate(rows, start=1) if row.startswith("import triton"))
    yield begin, f"{rows[begin - 1]}; from {receiver} import note as _depyf_note, stored as _depyf_stored"
    for each in statements(kernel):
        end = each.value.end_lineno if each.place is None else each.line
        if end is not None and (each.place is not None or _sets_value(each)):
            yield end, f"{rows[end - 1]}; {_triton_probe(each)}"


def _of_cpp(kernel: Kernel, rows: list[str]) -> Iterator[tuple[int, str]]:
    begin = next((number for number, row in enumerate(rows, start=1) if 'extern "C"' in row), len(rows))
    yield begin, f"{_CPP}{rows[begin - 1]}"
    body = next((number for number, row in enumerate(rows, start=1) if number > begin and row.strip() == "{"), 0)
    if body:
        yield body, "{ DepyfKernel depyf_kernel;"
    counts = _lanes(rows)
    for each in statements(kernel):
        value = _cpp_value(rows[each.line - 1], each)
        if body and each.line > body and value:
            yield each.line, f"{rows[each.line - 1]} depyf_note({each.line}, {value}, {counts[each.line - 1]});"


def _sets_value(statement: Statement) -> bool:
    return any(_VALUE.match(each) for each in statement.targets)


def _triton_probe(statement: Statement) -> str:
    if statement.place is None:
        names = [each for each in statement.targets if _VALUE.match(each)]
        return "; ".join(f'_depyf_note({statement.line}, "{name}", locals())' for name in names[:1])
    place, value = ast.unparse(statement.place), ast.unparse(statement.value)
    return f"_depyf_stored({statement.line}, {place}, {value}, locals())"


def _cpp_value(row: str, statement: Statement) -> str:
    """Return what a row of a C++ kernel gives, as an expression; empty where it has no probe."""
    if statement.place is None:
        return next((each for each in statement.targets[:1] if _VALUE.match(each)), "")
    stored = _VECTOR_STORE.match(row)
    return stored["value"] if stored is not None else row.partition(" = ")[0].strip()


def _lanes(rows: list[str]) -> list[str]:
    """Return for each row how many lanes of a vector count there: what loads and stores of its block say; -1: all."""
    blocks, counts, opened = list[int](), dict[int, str](), [0]
    for number, row in enumerate(rows):
        blocks.append(opened[-1])
        found = _COUNT.search(row)
        if found is not None:
            counts.setdefault(opened[-1], found["count"])
        for character in row:
            if character == "{":
                opened.append(number + 1)
            elif character == "}" and len(opened) > 1:
                opened.pop()
    return [counts.get(block, "-1") for block in blocks]


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
    if ((depyf_counts[line & 4095] += count) > (1 << 20)) {
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
template <typename T> inline void depyf_note(int line, const T& value, int64_t) {
    if constexpr (std::is_arithmetic_v<T>) {
        double kept = static_cast<double>(value);
        depyf_write(line, &kept, 1);
    } else if constexpr (std::is_convertible_v<T, float>) {
        double kept = static_cast<double>(static_cast<float>(value));
        depyf_write(line, &kept, 1);
    }
}
template <typename T, typename V> inline void depyf_lanes(int line, const V& value, int size, int64_t lanes) {
    T kept[1024];
    double values[1024];
    value.store(kept);
    int count = lanes < 0 || lanes > size ? size : static_cast<int>(lanes);
    for (int i = 0; i < count; ++i) {
        if constexpr (std::is_arithmetic_v<T>) values[i] = static_cast<double>(kept[i]);
        else values[i] = static_cast<double>(static_cast<float>(kept[i]));
    }
    depyf_write(line, values, count);
}
#if INDUCTOR_USE_VECTOR_TYPES()
template <typename T> inline void depyf_note(int line, const at::vec::Vectorized<T>& value, int64_t lanes) {
    depyf_lanes<T>(line, value, at::vec::Vectorized<T>::size(), lanes);
}
template <typename T, int N> inline void depyf_note(int line, const at::vec::VectorizedN<T, N>& value, int64_t lanes) {
    depyf_lanes<T>(line, value, at::vec::VectorizedN<T, N>::size(), lanes);
}
template <typename T, int N> inline void depyf_note(int line, const at::vec::VecMask<T, N>& value, int64_t lanes) {
    double values[1024];
    int size = at::vec::VecMask<T, N>::size();
    int count = lanes < 0 || lanes > size ? size : static_cast<int>(lanes);
    for (int i = 0; i < count; ++i) values[i] = value.is_masked(i) ? 1.0 : 0.0;
    depyf_write(line, values, count);
}
#endif
"""
"""What the probes of a C++ kernel call: a record is the line and the number of values, 4 bytes each, and the values."""
