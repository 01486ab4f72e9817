#!/usr/bin/env bash
# mcp 2.3.0, Python 3.11: a tool of MCPServer with a parameter `str | None` does not get every string that a client
# sends. The text `null` arrives as None, and a text that reads as a JSON object or list is refused, while `str` alone
# takes all three. A path, a hash or a regular expression such as `[1]` is such a text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'mcp==2.3.0'
cat > "$folder/program.py" <<'PY'
import asyncio

from mcp import Client
from mcp.server import MCPServer

server = MCPServer("probe")


@server.tool()
def plain(value: str) -> str:
    return repr(value)


@server.tool()
def optional(value: str | None = None) -> str:
    return repr(value)


async def main() -> None:
    async with Client(server) as client:
        for tool in ("plain", "optional"):
            for value in ("null", "[1]", "12"):
                result = await client.call_tool(tool, {"value": value})
                print(tool, value, "refused" if result.is_error else result.content[0].text)


asyncio.run(main())
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain null 'null'
plain [1] '[1]'
plain 12 '12'
optional null None
optional [1] refused
optional 12 '12'"
