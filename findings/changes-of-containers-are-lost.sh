#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: some changes of containers are lost in compiled code, without a warning, a break or a
# recompile: `appendleft` on a full deque with `maxlen`, `move_to_end` of an OrderedDict, and `add` on a set of a class
# of the program's own. `append`, item assignment and plain sets are right. A window of frames goes stale, and a cache
# that drops what was used least drops the wrong entry.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
from collections import OrderedDict, deque

import torch


class Tags(set):
    pass


def changed(compiles):
    newest, oldest, order, tags = deque([1, 2], maxlen=2), deque([1, 2], maxlen=2), OrderedDict(a=1, b=2), Tags({1})

    def step(x):
        newest.appendleft(0)
        oldest.append(3)
        order.move_to_end("a")
        tags.add(2)
        return x + 1

    function = torch.compile(step, backend="eager") if compiles else step
    function(torch.ones(1))
    return list(newest), list(oldest), list(order), sorted(tags)


print("plain", *changed(False))
print("compiled", *changed(True))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain [0, 1] [2, 3] ['b', 'a'] [1, 2]
compiled [1, 2] [2, 3] ['a', 'b'] [1]"
