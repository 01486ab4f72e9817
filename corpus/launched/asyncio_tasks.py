"""Calls compiled code from tasks of an event loop."""

import asyncio

from compiled import broken, some


async def task(number: int) -> list[float]:
    await asyncio.sleep(0)
    return broken(some(number)).tolist()


async def main() -> None:
    print(await asyncio.gather(*(task(number) for number in (2, 3, 4))))


asyncio.run(main())
