#!/usr/bin/env bash
# LibCST 1.9.0, Python 3.11: a concrete syntax tree should give a file back unchanged, but `parse_module(source).code`
# drops form feeds (the page breaks between parts of many older sources), and the last line end of a file with `\r`
# alone. A tool that writes the whole module back changes lines that it did not touch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'libcst==1.9.0'
cat > "$folder/program.py" <<'PY'
import libcst

for source in ("x = 1\n\x0cdef f(): pass\n", "x = 1\ry = 2\r", "x = 1\r\ny = 2\r\n"):
    compile(source, "source", "exec")
    print(repr(source), libcst.parse_module(source).code == source)
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "'x = 1\\n\\x0cdef f(): pass\\n' False
'x = 1\\ry = 2\\r' False
'x = 1\\r\\ny = 2\\r\\n' True"
