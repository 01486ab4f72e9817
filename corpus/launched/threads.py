"""Calls compiled code from threads, one of which outlives the main thread."""

import threading
import time

from compiled import broken, some

results = {}


def work(number: int) -> None:
    results[number] = broken(some(number)).tolist()


def late() -> None:
    time.sleep(0.5)
    print("late", broken(some(9)).tolist(), flush=True)


workers = [threading.Thread(target=work, args=(number,)) for number in (2, 3, 4, 5)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print([results[number] for number in sorted(results)], flush=True)
threading.Thread(target=late).start()
