# ecmwf/anemoi-core#1330: two threads call one compiled function with other sizes.
import threading

import torch


@torch.compile(backend="eager")
def smooth(x):
    return (x[1:] + x[:-1]) / 2


def work(size):
    for _ in range(3):
        smooth(torch.randn(size, 2))


for size in (8, 12, 16):
    thread = threading.Thread(target=work, args=(size,))
    thread.start()
    thread.join()
