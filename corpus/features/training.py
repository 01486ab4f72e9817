"""Autograd: backward, hooks, checkpoints, custom functions, optimizers, compiled autograd, functional transforms."""

from __future__ import annotations

import torch
from torch.utils.checkpoint import checkpoint


def _trained(function, *inputs, backend="aot_eager", **options):
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    result = torch.compile(function, backend=backend, **options)(*leaves)
    result.sum().backward()
    return [result.detach(), *(leaf.grad for leaf in leaves)]


def forward_and_backward():
    return _trained(lambda a, b: torch.sin(a) @ b, torch.randn(3, 3), torch.randn(3, 3))


def backward_with_eager():
    return _trained(lambda a: (a * a).relu(), torch.randn(4), backend="eager")


def backward_over_a_break():
    def f(a):
        b = a * 2
        torch._dynamo.graph_break()
        return b * a

    return _trained(f, torch.randn(4))


def mutated_input():
    def f(a):
        a.add_(1)
        return a * 2

    x = torch.ones(3)
    return [torch.compile(f, backend="aot_eager")(x), x]


def aliased_outputs():
    outputs = torch.compile(lambda x: (x, x.view(-1), x[0]), backend="aot_eager")(torch.ones(2, 2))
    return [outputs, outputs[1].data_ptr() == outputs[0].data_ptr()]


def views_that_are_written():
    def f(x):
        x.view(-1)[0] = 5
        return x + 1

    x = torch.ones(2, 2)
    return [torch.compile(f, backend="aot_eager")(x), x]


def tensor_hook():
    def f(a):
        b = a * 2
        b.register_hook(lambda grad: grad * 3)
        return b

    return _trained(f, torch.ones(3))


def module_hooks():
    module = torch.nn.Linear(3, 3)
    seen: list[str] = []
    module.register_forward_pre_hook(lambda *_: seen.append("before"))
    module.register_forward_hook(lambda *_: seen.append("after"))
    module.register_full_backward_hook(lambda *_: seen.append("backward"))
    result = torch.compile(module, backend="aot_eager")(torch.ones(2, 3, requires_grad=True))
    result.sum().backward()
    return [result.detach(), seen]


def saved_tensor_hooks():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x * 1, lambda x: x):
        return _trained(lambda a: torch.sin(a) * a, torch.ones(3))


def checkpoint_without_reentry():
    return _trained(lambda a: checkpoint(lambda x: torch.sin(x) * x, a, use_reentrant=False), torch.ones(3))


def custom_autograd_function():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x

    return _trained(lambda a: Doubled.apply(a) + 1, torch.full((3,), 4.0))


def optimizer_step():
    module = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    module(torch.ones(2, 3)).sum().backward()
    step()
    return list(module.parameters())


def adam_in_a_loop():
    module = torch.nn.Linear(3, 3)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    compiled = torch.compile(module, backend="aot_eager")
    for _ in range(3):
        optimizer.zero_grad()
        compiled(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    return list(module.parameters())


def compiled_autograd():
    from torch._dynamo import compiled_autograd as autograd

    x = torch.ones(3, requires_grad=True)
    enable = getattr(autograd, "_enable", None) or autograd.enable
    with enable(torch.compile(backend="eager", fullgraph=True)):
        (x * x * 2).sum().backward()
    return x.grad


def compiled_autograd_by_setting():
    x = torch.ones(3, requires_grad=True)
    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.compile(lambda: (torch.sin(x) * 2).sum().backward(), backend="eager")()
    return x.grad


def double_backward():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda a: (a * a * a).sum(), backend="eager")(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


def double_backward_of_aot():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda a: (a * a * a).sum(), backend="aot_eager")(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


def retained_graph():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda a: (a * 2).sum(), backend="aot_eager")(x)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def inference_mode():
    with torch.inference_mode():
        return torch.compile(lambda x: x * 2, backend="aot_eager")(torch.ones(3))


def autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.compile(lambda a, b: a @ b, backend="aot_eager")(torch.ones(3, 3), torch.ones(3, 3))


def dropout_and_random_numbers():
    torch.manual_seed(3)
    compiled = torch.compile(lambda x: torch.nn.functional.dropout(x) + torch.rand(3), backend="aot_eager")
    return [compiled(torch.ones(3)), torch.rand(2)]


def functional_grad():
    return torch.compile(torch.func.grad(lambda x: (x * x).sum()), backend="eager")(torch.ones(3))


def functional_vmap():
    return torch.compile(torch.func.vmap(lambda x: x * x.sum()), backend="eager")(torch.ones(3, 2))


def functional_jacobian():
    return torch.compile(torch.func.jacrev(lambda x: x * x), backend="eager")(torch.ones(3))


def functional_jvp():
    function = torch.func.jvp
    return torch.compile(lambda x: function(torch.sin, (x,), (x,)), backend="eager")(torch.ones(3))


def functional_call():
    module = torch.nn.Linear(2, 2)
    weights = {name: torch.ones_like(value) for name, value in module.named_parameters()}
    return torch.compile(lambda x: torch.func.functional_call(module, weights, (x,)), backend="eager")(torch.ones(1, 2))


def batch_norm_in_training():
    module = torch.nn.BatchNorm1d(3)
    result = torch.compile(module, backend="aot_eager")(torch.randn(4, 3))
    return [result, module.running_mean, module.num_batches_tracked]


def forward_mode_gradients():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))
        return torch.autograd.forward_ad.unpack_dual(torch.compile(lambda x: x * x, backend="eager")(dual)).tangent
