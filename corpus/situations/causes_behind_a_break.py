# pytorch/pytorch#146797: a print breaks the graph; behind it a name and the precision decide.
import torch


@torch.compile(backend="eager")
def attend(x, implementation):
    x = x + 1
    print("attention")  # here: print
    x = x * len(implementation)  # here: name
    return x.softmax(-1)


attend(torch.ones(2, 3), "eager")
attend(torch.ones(2, 3), "flash")
attend(torch.ones(2, 3), "paged_eager")
attend(torch.ones(2, 3, dtype=torch.bfloat16), "paged_eager")
