# vllm-project/vllm#24621, sgl-project/sglang#9102: the request is a pydantic-like object with strings, lists of ints
# and None.
from dataclasses import dataclass, field

import torch


@dataclass
class SamplingParameters:
    temperature: float = 1.0
    top_k: int | None = None
    stop_ids: list = field(default_factory=list)
    logprobs: bool = False


class Sampler(torch.nn.Module):
    def forward(self, logits, parameters):
        logits = logits / parameters.temperature  # here: temperature
        if parameters.top_k is not None:  # here: top_k
            kept = logits.topk(parameters.top_k).values[..., -1:]
            logits = logits.masked_fill(logits < kept, float("-inf"))
        for token in parameters.stop_ids:  # here: stop
            logits[..., token] = float("-inf")
        probabilities = logits.softmax(-1)
        return (probabilities, probabilities.log()) if parameters.logprobs else (probabilities, None)  # here: logprobs


sampler = torch.compile(Sampler(), backend="eager")
requests = [
    SamplingParameters(),
    SamplingParameters(temperature=0.7),
    SamplingParameters(temperature=0.7, top_k=5),
    SamplingParameters(temperature=0.9, top_k=5, stop_ids=[1]),
    SamplingParameters(temperature=0.9, top_k=5, stop_ids=[1, 2]),
    SamplingParameters(temperature=0.8, top_k=5, stop_ids=[1, 2], logprobs=True),
]
with torch.inference_mode():
    for request in requests:
        sampler(torch.randn(2, 12), request)
