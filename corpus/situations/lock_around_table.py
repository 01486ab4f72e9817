# pytorch/pytorch#94795: a server guards its table of prefixes by a lock and asks it inside of the compiled call.
import threading

import torch


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.layer = torch.nn.Linear(8, 8)
        self.table = {}

    @torch.compile(backend="eager")
    def encode(self, prefix, x):
        hidden = torch.tanh(self.layer(x))
        with self.lock:  # here: lock
            if prefix not in self.table:  # here: table
                self.table[prefix] = hidden.mean(0)
        return hidden + self.table[prefix]


server = Server()
with torch.no_grad():
    for number in range(5):
        server.encode(f"user{number}", torch.randn(4, 8))
