"""Has processes that multiprocessing spawns, one of them through a pool."""

import multiprocessing

from compiled import broken, some


def work(number: int) -> list[float]:
    return broken(some(number)).tolist()


if __name__ == "__main__":
    print(work(3), flush=True)
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=work, args=(4,))
    process.start()
    process.join()
    with context.Pool(1) as pool:
        print(process.exitcode, pool.map(work, [2, 5]))
