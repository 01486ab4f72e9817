"""lucidrains/x-transformers: a decoder is trained on sequences, then generates with its cache."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
net = TransformerWrapper(
    num_tokens=32, max_seq_len=64, attn_layers=Decoder(dim=32, depth=2, heads=2, rotary_pos_emb=True, attn_dim_head=16)
)
model = AutoregressiveWrapper(net)
model.net.forward = torch.compile(net.forward, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for length in (17, 17, 25):
    loss = model(torch.randint(0, 32, (2, length)))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    model.generate(torch.randint(0, 32, (1, 4)), 6)
