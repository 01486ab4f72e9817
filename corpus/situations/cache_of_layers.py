# huggingface/transformers#40328: keys and values of two layers lie in a dict and grow together.
import torch


@torch.compile(backend="eager")
def attend(query, cache):
    for layer in ("first", "second"):
        keys = cache[layer]["keys"]
        query = (query @ keys.transpose(1, 2)).softmax(-1) @ cache[layer]["values"]
    return query


def state(length):
    return {"keys": torch.randn(1, length, 4), "values": torch.randn(1, length, 4)}


with torch.no_grad():
    for length in range(5, 11):
        attend(torch.randn(1, 1, 4), {"first": state(length), "second": state(length)})
