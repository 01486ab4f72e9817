# pytorch/pytorch#141881: a server warms up two batch shapes, then forbids recompiles and serves any size.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
serve = torch.compile(model, backend="aot_eager")
with torch.inference_mode():
    for size in (4, 6):
        serve(torch.zeros(size, 8))
    with torch.compiler.set_stance("fail_on_recompile"):
        for size in (3, 8, 5, 16):
            serve(torch.randn(size, 8))
