"""Values of a running `prepare_debug` that clients of earlier releases read: the directory and Inductor's loader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


class _Now(Mapping[str, object]):
    """The current values under the old names, computed on access."""

    _READERS: Mapping[str, Callable[[], object]]

    def __init__(self, **readers: Callable[[], object]) -> None:
        self._READERS = readers

    def __getitem__(self, name: str) -> object:
        return self._READERS[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._READERS)

    def __len__(self) -> int:
        return len(self._READERS)


def _dump_src_dir() -> str | None:
    from depyf.torch.capture.prepare import current_context

    context = current_context()
    return str(context.directory) if context is not None else None


def _unpatched_load_by_key_path() -> object:
    from depyf.torch.adapters.loader import module_loader

    return module_loader()


data: Mapping[str, object] = _Now(
    dump_src_dir=_dump_src_dir, unpatched_load_by_key_path=_unpatched_load_by_key_path
)
"""`dump_src_dir`: the directory of the context that this thread entered last, or None outside a context.
`unpatched_load_by_key_path`: Inductor's loader of modules, which depyf does not replace."""
