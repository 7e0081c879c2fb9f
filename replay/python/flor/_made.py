"""Values of the standard library that never change, by the texts and numbers that they are made of."""
import sys

# By module and type: what the value is made of, and how.
_KINDS = {
    "decimal.Decimal": (lambda value: [str(value)], None),
    "fractions.Fraction": (lambda value: [value.numerator, value.denominator], None),
    "pathlib.PosixPath": (lambda value: [str(value)], None),
    "pathlib.PurePosixPath": (lambda value: [str(value)], None),
    "datetime.timedelta": (lambda value: [value.days, value.seconds, value.microseconds], None),
    "datetime.date": (lambda value: [value.isoformat()], "fromisoformat"),
    "datetime.datetime": (lambda value: [value.isoformat()] if value.tzinfo is None else None, "fromisoformat"),
}


def name_of(value):
    """Returns the name of a value's type; of one that Python 3.13 keeps in a module below that of its name, without that."""
    kind = type(value)
    return f"{kind.__module__.split('.')[0]}.{kind.__qualname__}"


def parts_of(value):
    """Returns what to make the value of, or None where it is none of these types."""
    kind = _KINDS.get(name_of(value))
    return kind and kind[0](value)


def made_of(name, parts):
    """Returns the value of a type by its name. Raises KeyError for another type, ValueError and TypeError for parts that make none."""
    maker = _KINDS[name][1]
    module, kind = name.split(".")
    __import__(module)
    kind = getattr(sys.modules[module], kind)
    return (getattr(kind, maker) if maker else kind)(*parts)
