# Rollouts of a policy without gradients, then updates on larger batches. leggedrobotics/rsl_rl#199.
import torch

policy = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
act = torch.compile(policy, backend="aot_eager")
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
state = torch.randn(4, 3)
for _ in range(3):
    states = []
    with torch.no_grad():
        for _ in range(8):
            states.append(state)
            choice = act(state).argmax(-1, keepdim=True)
            state = (state + 0.1 * choice).clamp(-1, 1)
    for batch in torch.cat(states).split(16):
        optimizer.zero_grad()
        act(batch).log_softmax(-1).mean().neg().backward()
        optimizer.step()
