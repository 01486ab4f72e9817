"""Programs that the links are judged on, beside the gallery: each is a model of a paper, written as its authors do.

    python -m corpus.linked NAME BACKEND
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from corpus.public_programs import PROGRAMS as PUBLIC

F: Any = nn.functional


class VariationalAutoencoder(nn.Module):
    """The autoencoder of the PyTorch examples, smaller."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21 = nn.Linear(32, 8)
        self.fc22 = nn.Linear(32, 8)
        self.fc3 = nn.Linear(8, 32)
        self.fc4 = nn.Linear(32, 64)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu: Tensor, logvar: Tensor) -> Tensor:
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z: Tensor) -> Tensor:
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def autoencoder(backend: str) -> None:
    """Train the autoencoder for two steps."""
    torch.manual_seed(0)
    model = VariationalAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    @torch.compile(backend=backend)
    def loss_of(x: Tensor) -> Tensor:
        recon_x, mu, logvar = model(x)
        bce = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return bce + kld

    for _ in range(2):
        optimizer.zero_grad()
        loss_of(torch.rand(16, 8, 8)).backward()
        optimizer.step()


class CausalSelfAttention(nn.Module):
    """The attention of nanoGPT, without its flash kernel."""

    bias: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.c_attn = nn.Linear(32, 96)
        self.c_proj = nn.Linear(32, 32)
        self.n_head, self.n_embd = 4, 32
        self.register_buffer("bias", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    """A block of nanoGPT."""

    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(32)
        self.attn = CausalSelfAttention()
        self.ln_2 = nn.LayerNorm(32)
        self.c_fc, self.c_proj = nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        x = x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))
        return x


def nano_gpt(backend: str) -> None:
    """Run two blocks forward and backward."""
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(Block(), Block()), backend=backend)
    model(torch.randn(2, 12, 32)).square().mean().backward()


def flex(backend: str) -> None:
    """Attend with a score that is written in Python."""
    from torch.nn.attention.flex_attention import flex_attention

    def slope(head: Tensor) -> Tensor:
        return torch.exp2(-((head + 1) * 8.0 / 4))

    def alibi(score: Tensor, b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
        bias = (q - kv) * slope(h)
        return score + bias

    @torch.compile(backend=backend)
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scaled = q * 0.5
        return flex_attention(scaled, k, v, score_mod=alibi)

    torch.manual_seed(0)
    attend(*(torch.randn(1, 4, 128, 16) for _ in range(3)))


class LanguageModel(nn.Module):
    """The LSTM language model of the PyTorch examples."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(64, 16)
        self.rnn = nn.LSTM(16, 16, 2)
        self.decoder = nn.Linear(16, 64)

    def forward(self, tokens: Tensor, hidden: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        emb = self.encoder(tokens)
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(output).view(-1, 64)
        return F.log_softmax(decoded, dim=1), hidden


def language_model(backend: str) -> None:
    """Train the language model for two batches."""
    torch.manual_seed(0)
    model = LanguageModel()
    compiled = torch.compile(model, backend=backend)
    hidden = (torch.zeros(2, 4, 16), torch.zeros(2, 4, 16))
    for _ in range(2):
        tokens = torch.randint(64, (6, 4))
        output, hidden = compiled(tokens, tuple(state.detach() for state in hidden))
        F.nll_loss(output, tokens.view(-1)).backward()


PROGRAMS: dict[str, Callable[[str], None]] = {
    "vae": autoencoder,
    "nanogpt": nano_gpt,
    "flex": flex,
    "lstm": language_model,
    **PUBLIC,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](sys.argv[2])
