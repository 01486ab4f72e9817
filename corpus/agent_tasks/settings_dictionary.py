import torch

settings = {"gain": 1.0, "steps": 0}


def remember(name, value):
    settings[name] = value


@torch.compile
def amplify(x):
    scaled = x
    for value in settings.values():
        scaled = scaled * 1.0 if value is None else scaled
    return torch.sin(scaled * settings["gain"])


torch.manual_seed(9)
total = 0.0
for step in range(10):
    total += float(amplify(torch.randn(4)).sum())
    remember(f"seen_{step}", float(step))
print("result", round(total, 4))
