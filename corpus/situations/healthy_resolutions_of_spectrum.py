# A loss over spectra of three resolutions, each a module of one class that is compiled by itself.
import torch
import torch.nn.functional as F


class SpectralLoss(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.hop = size // 4
        self.register_buffer("window", torch.hann_window(size))

    def magnitude(self, x):
        frames = x.unfold(-1, self.size, self.hop) * self.window
        return torch.fft.rfft(frames).abs()

    def forward(self, output, target):
        output, target = self.magnitude(output), self.magnitude(target)
        return F.l1_loss(output, target) + F.l1_loss(output.clamp_min(1e-5).log(), target.clamp_min(1e-5).log())


losses = [SpectralLoss(size) for size in (16, 32, 64)]
compiled = [torch.compile(loss, backend="aot_eager") for loss in losses]
model = torch.nn.Conv1d(1, 1, 9, padding=4)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    audio = torch.randn(2, 1, 256)
    output = model(audio)
    sum(loss(output, audio) for loss in compiled).backward()
    optimizer.step()
    optimizer.zero_grad()
