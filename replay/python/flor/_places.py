"""Where a generator of numpy's is in the numbers that it has ready. numpy takes any place, and would read behind them."""

_MOST = {"MT19937": ("state", "pos", 624), "Philox": (None, "buffer_pos", 4)}


def check(state):
    """Raises ValueError where the place in a state is none, as of a record that somebody else wrote."""
    if isinstance(state, dict):
        inner, key, most = _MOST.get(state.get("bit_generator"), (None, None, 0))
        place = 0 if key is None else (state if inner is None else state[inner])[key]
    else:
        place, most = state[2], _MOST["MT19937"][2]
    if type(place) is not int or not 0 <= place <= most:
        raise ValueError(f"a generator of numpy has no place {place}")
