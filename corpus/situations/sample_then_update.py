# pytorch/rl#3297: rollouts of one state without gradients, updates on batches, and an entropy weight that decays.
import torch

policy = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


@torch.compile(backend="eager")
def act(state):
    return policy(state).softmax(-1)


@torch.compile(backend="eager")
def loss_of(states, actions, weight):
    probabilities = policy(states).log_softmax(-1)
    chosen = probabilities.gather(1, actions)
    return -chosen.mean() - weight * (probabilities.exp() * probabilities).sum(-1).mean()


for episode in range(5):
    with torch.no_grad():
        for _ in range(3):
            act(torch.randn(1, 4))
    loss_of(torch.randn(12, 4), torch.randint(0, 2, (12, 1)), 0.1 * 0.9**episode).backward()
