"""Recorded values without parts, and bytes, made anew (_restore.py)."""
import enum
import struct

from ._made import made_of
from ._kinds import is_kept, kept_module, kept_name, name_of_kind
from ._objects import _torch
from ._settable import is_name_of_loggers
from ._targets import Misfit

ATOMS = {"float", "complex", "bytes", "bytes_in", "bytearray", "range", "slice", "enum", "made", "kept", "torch"}


class AtomRestorer:
    """A method for each kind of value. A subclass has _leaf(name), `_writing` and `_classes`."""

    def _float(self, _name, node, _live):
        return struct.unpack(">d", bytes.fromhex(node["float"]))[0]

    def _complex(self, _name, node, _live):
        return complex(*struct.unpack(">dd", bytes.fromhex(node["complex"])))

    def _bytes(self, _name, node, _live):
        return bytes.fromhex(node["bytes"])

    def _bytes_in(self, _name, node, _live):
        return bytes(self._leaf(node["bytes_in"]).memory())

    def _bytearray(self, _name, node, live):
        return self._filled(bytes.fromhex(node["bytearray"]), live)

    def _bytearray_in(self, _name, node, live):
        return self._filled(self._leaf(node["bytearray_in"]).memory(), live)

    def _filled(self, value, live):
        if type(live) is not bytearray:
            return bytearray(value)
        if self._writing:
            live[:] = value
        return live

    def _range(self, _name, node, _live):
        return range(*node["range"])

    def _slice(self, _name, node, _live):
        return slice(*node["slice"])

    def _enum(self, name, node, live):
        # Of a class that is no enumeration the index could be anything: a call of the program's, a type.
        kind = type(live) if isinstance(live, enum.Enum) and name_of_kind(type(live)) == node["of"] else self._classes.enumeration(node["of"])
        if kind is None or node["enum"] not in kind.__members__:
            raise Misfit(f"{name} is no {node['of']} named {node['enum']} here")
        return kind.__members__[node["enum"]]

    def _made(self, name, node, _live):
        try:
            return made_of(node["made"], node["of"])
        except (KeyError, ValueError, TypeError, ArithmeticError):
            raise Misfit(f"{name} is no {node['made']} here") from None

    def _kept(self, name, node, live):
        if is_name_of_loggers(node.get("module", "")):
            return live  # whatever it is: a bar may be made later
        if not is_kept(live) or kept_name(live) != node["kept"] or node.get("module", kept_module(live)) != kept_module(live):
            raise Misfit(f"{name} was {node['kept']}, and is another here")
        return live

    def _torch(self, name, node, _live):
        torch = _torch()
        if node["torch"] == "device":
            return torch.device(node["is"])
        value = getattr(torch, node["is"], None)
        if not isinstance(value, torch.dtype):  # whoever wrote the record may have named a function
            raise Misfit(f"{name} is no type of torch's")
        return value
