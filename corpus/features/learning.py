"""More of training and of tensors: optimizers with closures, schedules, parametrisations, subclasses, meshes."""

from __future__ import annotations

import contextlib
import os

import torch
import torch.nn.functional as F

from corpus.features import NotHere


def _model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))


def _state(module):
    return [tensor.detach().clone() for tensor in module.state_dict().values()]


def optimizer_with_a_closure():
    model = _model()
    compiled, x = torch.compile(model, backend="eager"), torch.ones(3, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = compiled(x).pow(2).sum()
        loss.backward()
        return loss

    return [optimizer.step(closure), *_state(model)]


def compiled_optimizer_with_a_schedule():
    model = _model()
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1), momentum=0.9)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=3)

    @torch.compile(backend="eager", fullgraph=False)
    def step():
        optimizer.step()
        schedule.step()

    for _ in range(3):
        model(torch.ones(3, 4)).sum().backward()
        step()
    return _state(model)


def schedule_with_a_float():
    model = _model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(4):
        model(torch.ones(3, 4)).sum().backward()
        step()
        schedule.step()
    return _state(model)


def averaged_model():
    model = _model()
    averaged = torch.optim.swa_utils.AveragedModel(model)
    compiled = torch.compile(averaged, backend="eager")
    averaged.update_parameters(model)
    return [compiled(torch.ones(3, 4)), *_state(averaged)]


def clipped_gradients():
    model = _model()
    torch.compile(model, backend="eager")(torch.ones(3, 4)).sum().backward()
    clip = torch.compile(torch.nn.utils.clip_grad_norm_, backend="eager")
    return [clip(list(model.parameters()), 0.1), *(parameter.grad for parameter in model.parameters())]


def hook_after_the_gradient():
    model, seen = _model(), []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda of: seen.append(tuple(of.shape)))
    torch.compile(model, backend="aot_eager")(torch.ones(3, 4)).sum().backward()
    return seen


def hook_before_the_forward():
    model, seen = _model(), []
    handle = model[0].register_forward_pre_hook(lambda module, given: seen.append(len(given)))
    compiled = torch.compile(model, backend="eager")
    results = [compiled(torch.ones(3, 4))]
    handle.remove()
    return [*results, compiled(torch.ones(3, 4)), seen]


def anomalies_are_detected():
    with torch.autograd.set_detect_anomaly(True):
        x = torch.ones(2, requires_grad=True)
        torch.compile(lambda x: (x * 2).sum(), backend="aot_eager")(x).backward()
    return x.grad


def selective_checkpoint():
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

    def policy(_, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    def block(x, w):
        return (x @ w).sigmoid() @ w

    def f(x, w):
        contexts = lambda: create_selective_checkpoint_contexts(policy)  # noqa: E731
        return checkpoint(block, x, w, use_reentrant=False, context_fn=contexts).sum()

    x, w = torch.ones(3, 3, requires_grad=True), torch.full((3, 3), 0.5, requires_grad=True)
    torch.compile(f, backend="aot_eager")(x, w).backward()
    return [x.grad, w.grad]


def hessian_of_a_function():
    return torch.compile(lambda x: torch.func.hessian(lambda y: (y**3).sum())(x), backend="eager")(torch.ones(3))


def pullback_of_a_function():
    def f(x):
        _, pull = torch.func.vjp(torch.sin, x)
        return pull(torch.ones(3))[0]

    return torch.compile(f, backend="eager")(torch.ones(3))


def map_over_what_is_compiled():
    compiled = torch.compile(lambda x: x.sin() + 1, backend="eager")
    return torch.func.vmap(compiled)(torch.ones(3, 2))


def map_with_random_numbers():
    def f(x):
        return torch.func.vmap(lambda y: y + torch.rand_like(y), randomness="different")(x)

    torch.manual_seed(0)
    return torch.compile(f, backend="eager")(torch.ones(3, 2))


def parametrised_weight():
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 3)
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    return torch.compile(layer, backend="eager")(torch.ones(2, 3))


def normalised_weight():
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 3))
    return torch.compile(layer, backend="eager")(torch.ones(2, 3))


def pruned_weight():
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 3)
    torch.nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5)
    return torch.compile(layer, backend="eager")(torch.ones(2, 3))


def decoder_with_masks():
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(4)
    return torch.compile(layer, backend="aot_eager")(torch.ones(2, 4, 8), torch.ones(2, 3, 8), tgt_mask=mask)


def attention_with_weights():
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.ones(2, 3, 8)
    return list(torch.compile(layer, backend="eager")(x, x, x, need_weights=True))


def spectra():
    return torch.compile(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2), backend="aot_eager")(torch.arange(8.0))


def sums_by_letters():
    return torch.compile(lambda a, b: torch.einsum("ij,jk->ik", a, b), backend="aot_eager")(
        torch.ones(2, 3), torch.ones(3, 4)
    )


def scattered_and_put():
    def f(x, at):
        y = x.scatter_add(0, at, torch.ones_like(x))
        y[at] = 7.0
        y.index_put_((at,), torch.full_like(x, 2.0), accumulate=True)
        return y

    return torch.compile(f, backend="aot_eager")(torch.zeros(3), torch.tensor([0, 1, 1]))


def loss_of_sequences():
    log_probs = torch.full((5, 2, 4), 0.25).log().requires_grad_()
    targets, lengths = torch.tensor([[1, 2], [2, 3]]), torch.tensor([5, 5])
    loss = torch.compile(F.ctc_loss, backend="eager")(log_probs, targets, lengths, torch.tensor([2, 2]))
    loss.backward()
    return [loss, log_probs.grad]


class _Two(torch.Tensor):
    """A pair of tensors that acts as one."""

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.size(), dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, _, size, stride):
        return _Two(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        def on(name):
            parts = torch.utils._pytree.tree_map(lambda of: getattr(of, name, of), arguments)
            return function(*parts, **(options or {}))

        results = [on("a"), on("b")]
        return _Two(*results) if isinstance(results[0], torch.Tensor) else results[0]


def subclass_that_wraps_two_tensors():
    output = torch.compile(lambda x: x * 2 + 1, backend="aot_eager")(_Two(torch.ones(2), torch.zeros(2)))
    return [type(output).__name__, output.a, output.b]


class _Talking(torch.Tensor):
    """A tensor that notes every function that is called on it."""

    said: list[str] = []

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        cls.said.append(getattr(function, "__name__", str(function)))
        return super().__torch_function__(function, types, arguments, options or {})

    def __repr__(self, **options):
        self.said.append("repr")
        return "talking"


def subclass_that_notes_its_calls():
    _Talking.said.clear()
    x = torch.ones(3).as_subclass(_Talking)
    compiled = torch.compile(lambda x, n: (x * n).sum(), backend="aot_eager", dynamic=False)
    result = [compiled(x, 2), compiled(x, 3), compiled(torch.ones(3), 3)]
    return [[tensor.as_subclass(torch.Tensor) for tensor in result], list(_Talking.said)]


class _Noting(_Two):
    """A pair that notes what is dispatched to it, and when it is shown."""

    said: list[str] = []

    @staticmethod
    def __tensor_unflatten__(inner, _, size, stride):
        return _Noting(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        cls.said.append(str(function))
        return super().__torch_dispatch__(function, types, arguments, options)

    def __repr__(self, **options):
        self.said.append("repr")
        return "noting"


def wrapper_that_notes_what_is_dispatched():
    _Noting.said.clear()
    compiled = torch.compile(lambda x, n: x * n + 1, backend="aot_eager", dynamic=False)
    results = [compiled(_Noting(torch.ones(2), torch.zeros(2)), n) for n in (2, 3)]
    return [[(output.a, output.b) for output in results], list(_Noting.said)]


def parameter_of_a_subclass():
    layer = torch.nn.Linear(2, 2, bias=False)
    layer.weight = torch.nn.Parameter(_Two(torch.ones(2, 2), torch.zeros(2, 2)), requires_grad=False)
    output = torch.compile(layer, backend="aot_eager")(torch.ones(1, 2))
    return [type(output).__name__, output.a, output.b]


def wrapper_that_is_trained():
    _Noting.said.clear()
    x = _Noting(torch.ones(2), torch.zeros(2)).requires_grad_()
    torch.compile(lambda x: (x * 3 + 1).sin(), backend="aot_eager")(x).sum().backward()
    return [x.grad.a, x.grad.b, list(_Noting.said)]


def scaled_gradients():
    model = _model()
    scaler = torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cpu", torch.bfloat16):
        loss = torch.compile(model, backend="aot_eager")(torch.ones(3, 4)).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return [loss, *_state(model)]


@contextlib.contextmanager
def _alone():
    """Be a process group of one."""
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()
        for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
            del os.environ[name]


def data_parallel_in_buckets():
    with _alone():
        module = torch.nn.parallel.DistributedDataParallel(_model(), bucket_cap_mb=0.0001)
        compiled = torch.compile(module, backend="aot_eager")
        compiled(torch.ones(3, 4)).sum().backward()
        return [parameter.grad.clone() for parameter in module.parameters()]


def tensor_parallel_layers():
    try:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    except ImportError as error:
        raise NotHere("tensor parallelism") from error
    with _alone():
        mesh = init_device_mesh("cpu", (1,))
        module = parallelize_module(_model(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        return torch.compile(module, backend="aot_eager")(torch.ones(3, 4))


def distributed_tensor_in_a_graph():
    try:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Shard, distribute_tensor
    except ImportError as error:
        raise NotHere("distributed tensors") from error
    with _alone():
        mesh = init_device_mesh("cpu", (1,))
        x = distribute_tensor(torch.ones(4, 2), mesh, [Shard(0)])
        return torch.compile(lambda x: (x + 1).sum(), backend="aot_eager")(x).full_tensor()


def functional_collectives():
    import torch.distributed._functional_collectives as collectives

    with _alone():

        def f(x):
            return collectives.all_reduce(x * 2, "sum", [0]) + 1

        return torch.compile(f, backend="aot_eager")(torch.ones(2))


def collective_that_breaks():
    import torch.distributed as dist

    with _alone():

        def f(x):
            y = x * 2
            dist.barrier()
            return y + dist.get_world_size()

        return torch.compile(f, backend="eager")(torch.ones(2))
