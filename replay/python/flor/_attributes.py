"""What objects have, read without calling their own code."""
import types


def dict_of(value):
    """Returns the __dict__ of an object without calling its own code, or None."""
    try:
        return object.__getattribute__(value, "__dict__")
    except Exception:
        return None


def slots_of(value):
    """Yields the names and values of __slots__."""
    for kind in type(value).__mro__:
        for name, descriptor in list(vars(kind).items()):
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    yield name, descriptor.__get__(value, type(value))
                except (AttributeError, TypeError):
                    continue


def is_filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
