import torch

layer = torch.nn.Linear(8, 8)


@torch.compile(dynamic=False)
def attend(x):
    scores = torch.softmax(x @ x.transpose(1, 2), -1)
    return layer(scores @ x).mean()


torch.manual_seed(13)
layer.reset_parameters()
total = 0.0
with torch.no_grad():
    for length in (5, 9, 12, 7, 15, 11, 6, 8, 20, 14):
        total += float(attend(torch.randn(2, length, 8)))
print("result", round(total, 4))
