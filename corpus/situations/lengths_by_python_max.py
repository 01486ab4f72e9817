# huggingface/transformers#35946, open-mmlab/mmdetection#12210: boxes of images come as a list whose length differs; the
# padded size is computed with Python's max, and labels are strings.
import torch
import torch.nn.functional as F


class Matcher(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(4, 8)

    def pad(self, boxes):
        longest = max(len(each) for each in boxes)  # here: longest
        return torch.stack([F.pad(each, (0, 0, 0, longest - len(each))) for each in boxes])

    def forward(self, boxes, mode="train"):
        hidden = self.embed(self.pad(boxes))
        return hidden.mean() if mode == "train" else hidden  # here: mode


matcher = Matcher()
compiled = torch.compile(matcher, backend="eager")
generator = torch.Generator().manual_seed(0)
for step in range(6):
    counts = torch.randint(2, 6, (2,), generator=generator).tolist()
    compiled([torch.rand(count, 4) for count in counts]).backward()
with torch.no_grad():
    compiled([torch.rand(3, 4), torch.rand(5, 4)], mode="predict")
