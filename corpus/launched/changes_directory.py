"""Changes its working directory, and writes its results there."""

import os

import torch
from compiled import broken, some

print(sorted(os.listdir())[:1], os.path.basename(os.getcwd()) != "")
os.makedirs("results/deep", exist_ok=True)
os.chdir("results/deep")
torch.save(broken(some(5)), "result.pt")
with open("result.txt", "w") as file:
    print(broken(some(4)).tolist(), file=file)
print(os.path.relpath(os.getcwd(), os.path.dirname(os.path.abspath(__file__))))
