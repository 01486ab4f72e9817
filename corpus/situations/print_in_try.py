# pytorch/pytorch#112865: a message is printed inside of try, which cannot be resumed.
import torch


@torch.compile(backend="eager")
def guarded(x):
    try:
        y = x.log()
        print("ok")  # here: print
        return y.exp()
    except ValueError:
        return x


for _ in range(3):
    guarded(torch.rand(4) + 1)
