# An encoder and a decoder of one class with other widths, both compiled.
import torch

encoder = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
decoder = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 8))
encode, decode = torch.compile(encoder, backend="aot_eager"), torch.compile(decoder, backend="aot_eager")
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
for _ in range(3):
    x = torch.randn(5, 8)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(decode(encode(x)), x).backward()
    optimizer.step()
