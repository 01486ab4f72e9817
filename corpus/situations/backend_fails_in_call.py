# pytorch/TensorRT#2190: the code of a backend fails at the second batch, in the call and not in the compile.
import torch


def backend(module, inputs):
    def call(*given):
        if given[-1].shape[0] > 4:
            raise ValueError("the engine serves at most 4 requests")
        return module.forward(*given)

    return call


@torch.compile(backend=backend, dynamic=True)
def serve(x):
    return x * 2


serve(torch.ones(3))
serve(torch.ones(6))
