# pytorch/rl#2738, Farama-Foundation/Gymnasium#1122: an environment's info has keys only in the step that ends an
# episode.
import torch


class Environment:
    def __init__(self, count):
        self.count, self.time = count, 0

    def reset(self):
        self.time = 0
        return {"position": torch.zeros(self.count, 2)}, {}

    def step(self, action):
        self.time += 1
        observation = {"position": torch.randn(self.count, 2)}
        info = {}
        if self.time % 3 == 0:
            info["final_observation"] = torch.randn(self.count, 2)
        return observation, action.sum(-1), info


class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def forward(self, observation, reward, info):
        following = self.layers(observation["position"])
        if "final_observation" in info:  # here: final
            following = self.layers(info["final_observation"])
        return reward + 0.99 * following.squeeze(-1)


critic = Critic()
target = torch.compile(critic, backend="aot_eager")
environment = Environment(4)
observation, info = environment.reset()
for _ in range(9):
    observation, reward, info = environment.step(torch.randn(4, 2))
    with torch.no_grad():
        target(observation, reward, info)
