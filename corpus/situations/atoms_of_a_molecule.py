# isayevlab/aimnetcentral#109: the largest index of a molecule is taken as a number, and its atoms are counted.
import torch


@torch.compile(backend="eager")
def energy(x, molecule):
    x = x * 2
    count = int(molecule.max().item()) + 1  # here: item
    return torch.zeros(count).index_add_(0, molecule, x)


energy(torch.ones(6), torch.tensor([0, 0, 0, 1, 1, 1]))
energy(torch.ones(6), torch.tensor([0, 0, 1, 1, 2, 2]))
energy(torch.ones(6), torch.tensor([0, 1, 2, 3, 4, 5]))
