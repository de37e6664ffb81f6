"""torch: what takes values out of tensors, moves tensors, or builds them from lists, counted by the line that does it.

A call that torch makes for itself, in an optimizer say, is nobody's line and is left alone.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import SITE
from rlprof.probes.patching import ORIGINAL, Patches
from rlprof.probes.uncompiled import leave_alone
from rlprof.probes.uploads import Uploads
from rlprof.record.sites import OWN_FOLDER, Call, Sites, Tensors, counted_method

LIBRARY: Final = "torch's call sites"

#: What is counted, how it is named, and the phase it belongs to where the tensor is on a device.
_METHODS: Final = {
    "item": (".item()", "transfer.sync"),
    "tolist": (".tolist()", "transfer.sync"),
    "__float__": ("float(tensor)", "transfer.sync"),
    "__int__": ("int(tensor)", "transfer.sync"),
    "__bool__": ("bool(tensor)", "transfer.sync"),
    "cpu": (".cpu()", "transfer.d2h"),
    "numpy": (".numpy()", "transfer.d2h"),
    "__array__": ("np.asarray(tensor)", "transfer.d2h"),
}
_FROM_LISTS: Final = ("tensor", "as_tensor")

_span = _core.span_of_kind
_getframe = sys._getframe


class _Moves:
    """What a call of `Tensor.to` would change, told from its arguments."""

    def __init__(self, torch: Any) -> None:
        self._dtype = torch.dtype
        self._device = torch.device
        self._tensor = torch.Tensor
        self._parsed: dict[Any, Any] = {}

    def is_there(self, tensor: Any, wanted: Any) -> bool:
        """Whether the tensor certainly is what a single argument asks for."""
        kind = type(wanted)
        if kind is self._dtype:
            return wanted is tensor.dtype
        if kind is str:
            wanted = self._parsed.get(wanted)
        return wanted is not None and (kind is str or kind is self._device) and bool(wanted == tensor.device)

    def phase(self, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the call copies, and the phase of the copy."""
        try:
            return self._read(tensor, args, kwargs)
        except Exception:  # what we cannot read, torch may refuse, and says why
            return True, None

    def _read(self, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        copies, phase = bool(kwargs.get("copy")), None
        for wanted in (*args[:2], kwargs.get("device"), kwargs.get("dtype"), kwargs.get("other")):
            if wanted is None or wanted is True or wanted is False:
                continue
            if isinstance(wanted, self._dtype):
                copies = copies or wanted is not tensor.dtype
                continue
            if isinstance(wanted, self._tensor):
                copies = copies or wanted.dtype is not tensor.dtype
            device = wanted.device if isinstance(wanted, self._tensor) else self._parse(wanted)
            here = tensor.device
            if device.type != here.type:
                copies = True
                phase = "transfer.h2d" if here.type == "cpu" else "transfer.d2h" if device.type == "cpu" else None
            elif device.index is not None and device.index != here.index:
                copies = True
        return copies or (len(args) > 3 and bool(args[3])), phase

    def _parse(self, wanted: Any) -> Any:
        if isinstance(wanted, self._device):
            return wanted
        device = self._parsed.get(wanted)
        if device is None:
            device = self._parsed[wanted] = self._device(wanted)
        return device


def _counted_to(
    sites: Sites, moves: _Moves, uploads: Uploads, original: Callable[..., Any], tensors: Tensors
) -> _core.Counted:
    """Most calls ask for what the tensor is already: these are found out first and cost least."""
    is_watched = tensors.is_watched

    def moved(tensor: Any, *args: Any, **kwargs: Any) -> str | bool | None:
        if is_watched(tensor):
            with tensors.unwatched():
                copies, phase = moves.phase(tensor, args, kwargs)
        elif not kwargs and len(args) == 1 and moves.is_there(tensor, args[0]):
            return False
        else:
            copies, phase = moves.phase(tensor, args, kwargs)
        if copies and phase == "transfer.h2d":
            uploads.see(tensor, _getframe(1))
        return phase if copies else False

    return _core.Counted(original, functools.partial(sites.find, ".to()"), moves=moved)


def _counted_from_list(
    sites: Sites, tensor: type, is_traced: Callable[[], bool], what: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Only lists and tuples are looped over by torch, element by element; arrays and numbers go straight through."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        call = Call(sites, what, original)

        def build(*args: Any, **kwargs: Any) -> Any:
            kind = type(args[0]) if args else None
            from_list = kind is list or kind is tuple
            if (not from_list and kind is not tensor) or is_traced():
                return original(*args, **kwargs)
            frame = _getframe(1)
            try:
                name, run = call.known[id(frame.f_code), frame.f_lasti]
            except KeyError:
                name, run = call.find(frame)
            if name is None or not from_list:  # a tensor from a tensor: torch has a word of warning for that line
                return run(*args, **kwargs)
            with _span(name, None, SITE):
                return run(*args, **kwargs)

        return build

    return wrap


def _put(owner: type, name: str, ours: _core.Counted, patches: Patches) -> None:
    """Give a class a method, over one that it inherits or has."""
    before = vars(owner).get(name)
    setattr(owner, name, ours)

    def undo() -> None:
        if vars(owner).get(name) is not ours:  # somebody has replaced it after us
            return
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)

    patches.on_undo(undo)


def install(module: ModuleType, patches: Patches) -> None:
    """`torch` is loaded."""
    torch: Any = module
    folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    sites = Sites(folder, OWN_FOLDER, "<eval_with_key>", made=leave_alone)
    # Outside of the compiler this one only says no, which is cheap.
    is_traced = getattr(torch.compiler, "is_dynamo_compiling", torch.compiler.is_compiling)
    tensors = Tensors(torch._C._has_torch_function_unary, torch._C.DisableTorchFunction)
    for name, (what, phase) in _METHODS.items():
        _put(torch.Tensor, name, counted_method(sites, what, getattr(torch.Tensor, name), phase, tensors), patches)
    uploads = Uploads()
    uploads.watch(patches)
    _put(torch.Tensor, "to", _counted_to(sites, _Moves(torch), uploads, torch.Tensor.to, tensors), patches)
    # A rollout that is stored by hand: `observations[step] = observation`.
    find = functools.partial(sites.find, "tensor[i] =")
    stored = _core.Counted(torch.Tensor.__setitem__, find, phase_here="buffer.add")
    if _core.watch_stores(torch.Tensor, stored):
        patches.on_undo(functools.partial(_core.leave_stores, torch.Tensor))
    _install_from_lists(torch, sites, is_traced, patches)


def _install_from_lists(torch: Any, sites: Sites, is_traced: Callable[[], bool], patches: Patches) -> None:
    # torch.jit knows the functions it can compile by their addresses.
    table = sys.modules["torch.jit._builtins"]._get_builtin_table()
    for name in _FROM_LISTS:
        wrap = _counted_from_list(sites, torch.Tensor, is_traced, f"torch.{name}(list)")
        if patches.function(torch, name, wrap):
            ours = getattr(torch, name)
            ours.__qualname__ = name  # where pickle looks for it
            table[id(ours)] = f"aten::{name}"
            patches.on_undo(functools.partial(table.pop, id(ours), None))


def install_device(module: ModuleType, patches: Patches) -> None:
    """`torch.utils._device` is loaded: it lists the functions that heed a default device, and is asked of originals."""
    functions = module._device_constructors()
    for ours in [function for function in functions if hasattr(function, ORIGINAL)]:
        functions.add(getattr(ours, ORIGINAL))


WATCHED: Final = {"torch": install, "torch.utils._device": install_device}
