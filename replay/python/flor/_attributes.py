"""What objects have, read without calling their own code."""
import types
import weakref

_descriptors = weakref.WeakKeyDictionary()  # of __slots__, by class: [(name, descriptor), …]


def dict_of(value):
    """Returns the __dict__ of an object without calling its own code, or None."""
    try:
        return object.__getattribute__(value, "__dict__")
    except Exception:
        return None


def slots_of(value):
    """Yields the names and values of __slots__."""
    kind = type(value)
    if kind not in _descriptors:
        _descriptors[kind] = [(name, found) for base in kind.__mro__ for name, found in list(vars(base).items())
                              if isinstance(found, types.MemberDescriptorType)]
    for name, descriptor in _descriptors[kind]:
        try:
            yield name, descriptor.__get__(value, kind)
        except (AttributeError, TypeError):
            continue


def is_filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
