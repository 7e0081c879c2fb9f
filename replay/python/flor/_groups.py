"""Groups of parameters that a loop adds to an optimizer, as in fine-tuning: a process that starts anew has fewer of them, and adds the rest
when it restores. A group that the process has added since is taken away."""
import sys


def added_to(optimizer, origin, first):
    """Returns the names of the parameters in the groups that the loop has added, by groups, [] where there are none; None where its groups
    are others in another way, or no restore could find a parameter. `first`: the Origins of the main loop, which know it as `origin`."""
    groups, count = [group["params"] for group in optimizer.param_groups], _count_at_first(first, origin)
    are_as_before = all(first.knows(f"{origin}.param_groups.{number}.params.{index}") for number, group in enumerate(groups[:count])
                        for index in range(len(group)))
    have_more = any(first.knows(f"{origin}.param_groups.{number}.params.{len(group)}") for number, group in enumerate(groups[:count]))
    names = [[first.name_of(parameter) for parameter in group] for group in groups[count:]]
    if len(groups) < count or not are_as_before or have_more or None in sum(names, []):
        return None
    return names if not names or _is_torchs(optimizer) else None


def groups_here(optimizer, node, first):
    """Returns the parameters of each recorded group, as far as they are here. `first`: as in added_to(), or None."""
    groups, count = [list(group["params"]) for group in optimizer.param_groups], len(node["groups"])
    added = node.get("added") or []
    origin = first and first.name_of(optimizer)
    if origin and count < len(groups) and count >= _count_at_first(first, origin) > 0:
        return groups[:count]
    if origin and 0 < count - len(groups) <= len(added) and _is_torchs(optimizer):
        groups += [[first.get(str(name)) for name in group] for group in added[len(groups) - count:]]
    flat = sum(groups, [])
    are_parameters = all(isinstance(one, sys.modules["torch"].Tensor) and one.is_leaf for one in flat) and len(set(map(id, flat))) == len(flat)
    return groups if are_parameters else []


def set_group(optimizer, number, parameters, values):
    """Gives a group these values; adds it where it is not there yet."""
    if number == len(optimizer.param_groups):
        optimizer.add_param_group({**values, "params": parameters})
        return
    group = optimizer.param_groups[number]
    for key in [key for key in group if key != "params" and key not in values]:
        del group[key]
    group.update(values)


def _count_at_first(first, origin):
    count = 0
    while first.knows(f"{origin}.param_groups.{count}"):
        count += 1
    return count


def _is_torchs(optimizer):
    """Adds it groups by torch's own method? Another may keep more of them than a checkpoint has."""
    return type(optimizer).add_param_group.__module__.startswith("torch.optim")
