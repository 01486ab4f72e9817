# Q-learning: single states choose actions, batches of a memory train, and a second network is copied. pytorch/rl#2501.
import copy

import torch

online = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
target = copy.deepcopy(online)
value = torch.compile(online, backend="aot_eager")
later = torch.compile(target, backend="aot_eager")
optimizer = torch.optim.Adam(online.parameters())
memory = []
state = torch.randn(1, 4)
for step in range(24):
    with torch.no_grad():
        action = value(state).argmax(-1)
    follow = (state + 0.1 * action.view(1, 1)).tanh()
    memory.append((state, action, follow))
    state = follow
    if step >= 8:
        states, actions, follows = (torch.cat(tensors) for tensors in zip(*memory[-8:]))
        with torch.no_grad():
            best = later(follows).max(-1).values
        optimizer.zero_grad()
        (value(states).gather(1, actions.view(-1, 1)).squeeze(1) - 0.9 * best - 1).square().mean().backward()
        optimizer.step()
    if step % 10 == 9:
        target.load_state_dict(online.state_dict())
