# flex_attention with a mask of documents: each batch makes a new mask function over new document numbers.
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def document_mask(documents):
    def mask(b, h, q, k):
        return (q >= k) & (documents[b, q] == documents[b, k])

    return mask


class Attention(torch.nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)

    def forward(self, x, block_mask):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return flex_attention(q, k, v, block_mask=block_mask).transpose(1, 2).reshape(b, n, c)


model = Attention().eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(4):
        documents = torch.randint(2, (2, 128)).cumsum(-1)
        mask = create_block_mask(document_mask(documents), 2, None, 128, 128, device="cpu")
        compiled(torch.randn(2, 128, 16), mask)
