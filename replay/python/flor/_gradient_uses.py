"""Which checkpoints hold which gradients, and what happens where the program uses one that a checkpoint leaves out (_left_out.py).

A gradient is left out once the program was seen to clear it between two checkpoints, as long as it goes on doing that. Where it is seen to
use one that was left out, further ones are held. One that was left out stays so until it is cleared: a process that goes on from that
checkpoint does not know it, and could compare no later state that has it. So what is held is also decided once for an iteration.

Not every use is seen: functions of other libraries, written in C++, read the memory, and backward() may put another gradient in place of
the one that it adds to. A gradient that backward() adds to before it is cleared is never left out."""
import atexit
import functools
import sys
import weakref

from ._left_out import asking_of, is_unknown, plain_of, watch
from ._library import library, warn

# In the record, in place of a path: a block leaves gradients that its checkpoints do not have. In place of a block's name: checkpoints of
# iterations lack gradients that are used, all so far ("?"), and those from here on do not ("!").
_GRADIENTS = "@gradients"
_FEW = 64  # elements
# `began`: did backward() begin since the last look at what is unknown?
_seen = {"used": False, "in doubt": False, "to the end": False, "began": False}
_known = {}  # by the ids of parameters
_decided = set()  # of those, in this iteration
_unknown = {}  # those of _known whose gradients a restore left unknown, and that were not NaN themselves
_waiting = []  # what is to be done on the thread that trains


class _Known:
    """Of a parameter: `names` of those whose checkpoints met its gradient, and of them those that have left it `out` since it was
    cleared; was it seen to be cleared behind one of them? `must_hold`: it is left out no more. `decision`: is it held in this iteration?
    None: not decided. `restored`: which restore left it unknown, a block or "". `may_hold`: of begin_anew()."""

    def __init__(self, parameter):
        self.parameter, self.names, self.out, self.is_cleared, self.decision = weakref.ref(parameter), set(), set(), False, None
        self.must_hold, self.restored, self.may_hold = False, "", True
        self._handle, self._hook = None, functools.partial(_added, self)  # which PyTorch calls without a reference of its own

    def asking(self):
        """Returns who waits for its first use. Where not all that left it out do, it was cleared."""
        asking = asking_of(self.parameter())
        self.out = self.out if self.out <= asking else set()
        return asking

    def expect(self):
        """From here on _added() is called, once, when backward() comes."""
        if self._handle is None and self.parameter().requires_grad:
            self._handle = self.parameter().register_hook(self._hook)

    def expect_no_more(self):
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()


def _known_of(parameter):
    found = _known.get(id(parameter))
    if found is None or found.parameter() is not parameter:
        found = _known[id(parameter)] = _Known(parameter)
    return found


def is_held(name, parameter):
    """Does a checkpoint of a block, or of an iteration (""), hold a parameter's gradient? Where the text reads some behind one, all do."""
    known = _known_of(parameter)
    if known.decision is None:
        _decided.add(known)
        asking = known.asking()
        known.is_cleared = known.is_cleared or not known.names <= asking
        is_seen = known.is_cleared and parameter.requires_grad and not known.must_hold  # hooks are for what trains
        known.decision = not known.out and (_seen["used"] or not is_seen or name in asking)
    return known.decision


def begin_iteration():
    """What is held is decided anew."""
    settle()
    if not _decided:
        return  # asked at each step
    for known in _decided:
        known.decision = None
    _decided.clear()
    for key, known in list(_known.items()):
        if known.parameter() is None:
            del _known[key]


def watch_all(name, gradients, may_hold=True):
    """In a recording, watches the gradients of parameters from a checkpoint on that a block, or an iteration (""), has taken. `gradients`:
    (parameter, whether it is held). `may_hold`: or are they never, as where the program names its state itself? It has to clear them."""
    settle()
    if library.flor_recording():
        if name == "" and _seen["in doubt"]:
            _end_doubt(all(is_so or not _known_of(parameter).must_hold for parameter, is_so in gradients))
        for parameter, is_so in gradients:
            known = _known_of(parameter)
            known.asking()
            known.names.add(name)
            known.out.update(() if is_so else (name,))
            watch(parameter, name, functools.partial(_use, name, name not in known.out, may_hold))
            if may_hold:
                known.expect()


def _end_doubt(lacks_nothing):
    """`lacks_nothing`: does a checkpoint of an iteration have all gradients that were used?"""
    if lacks_nothing:
        _seen["in doubt"] = False
        library.flor_note_unheld(_GRADIENTS.encode(), b"!", 0)
    else:
        warn("the program adds to gradients that earlier checkpoints do not have: until it clears them or takes a step with them, a resumed "
             "recording begins at the program's start")


def begin_anew(name, restored, may_hold=True):
    """Behind a restore of a block, or of an iteration (""), nothing is known of gradients: their watches ended, and nobody cleared them.
    Where backward() adds to one that is unknown, that is a use: in the recording it did not. `may_hold`: see watch_all()."""
    _seen["began"] = False
    for parameter in restored:
        known = _known_of(parameter)
        known.names, known.out, known.is_cleared, known.decision, known.restored = set(), set(), False, None, name
        known.may_hold = may_hold
        _unknown.pop(id(parameter), None)  # of an earlier restore: the recorded model may be NaN where this one is
        if is_unknown(parameter.grad):
            if not _is_nan(parameter):
                _unknown[id(parameter)] = known
                _settle_at_exit()
            if may_hold or id(parameter) in _unknown:
                known.expect()


def _settle_at_exit():
    """A step may stand behind the loop."""
    if not _seen["to the end"]:
        _seen["to the end"] = True
        atexit.register(settle)


def _is_nan(tensor):
    """Does it look like an unknown gradient, or what was computed with one? These are NaN all over, so that a few elements tell."""
    some = tensor.detach()
    if some.numel() == 0:
        return False
    while some.dim() > 1:
        some = some[0]
    some = some[:_FEW] if some.dim() == 1 else some
    return bool((some != some).any())


def _is_known(parameter):
    """Is its gradient another than the NaN of a restore, and was not used before that?"""
    gradient = plain_of(parameter.grad)
    is_other = gradient is None or gradient.layout != sys.modules["torch"].strided or not _is_nan(gradient)
    return is_other and not _is_nan(parameter)


def _forget_cleared(known):
    """Call where backward() begins, and may bring NaN of the program's own. `known`: of the parameter whose gradient it adds to, which a
    function that nobody sees may have cleared. The first time in an iteration, those of others are looked at as well: they are cleared by
    then, and their own need not come."""
    if id(known.parameter()) in _unknown and _is_known(known.parameter()):
        _unknown.pop(id(known.parameter()), None)
    if _seen["began"]:
        return
    _seen["began"] = True
    for key, other in list(_unknown.items()):
        parameter = other.parameter()
        if parameter is None or not is_unknown(parameter.grad) and _is_known(parameter):
            _unknown.pop(key, None)


def end_if_used():
    """Call where an iteration or a block ends, and in front of a restore. Unknown gradients are NaN, and a step in C++ that nobody sees makes
    their parameters so."""
    _seen["began"] = False
    for key, known in list(_unknown.items()):
        parameter = known.parameter()
        if parameter is not None and _is_nan(parameter):
            _end(known.restored, _what(known.restored))
        elif parameter is None or _is_known(parameter):
            _unknown.pop(key, None)
        else:
            known.expect()


def hold_of_libraries(optimizers):
    """Leaves out no more the gradients of optimizers that other libraries have: their steps may be functions of C++."""
    from ._runtime import is_users

    for optimizer in optimizers:
        module = type(optimizer).__module__
        if not module.startswith("torch.") and not is_users(sys.modules.get(module)):
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    _known_of(parameter).must_hold = True


def is_own_hook(hook):
    """Is a hook of a tensor one of these?"""
    return isinstance(hook, functools.partial) and hook.func is _added


def _added(known, _gradient):
    """backward() is about to add to a parameter's gradient: a use where the one that a checkpoint met, or left unknown, is still there."""
    parameter = known.parameter()
    known.expect_no_more()
    if parameter is None:
        return
    if _unknown:
        _forget_cleared(known)
    if parameter.grad is None or not known.may_hold:
        return
    if is_unknown(parameter.grad):
        unknown(known.restored)
    if asking_of(parameter):
        known.must_hold = True
        for name in known.asking() & known.out:
            _on_own_thread(functools.partial(_lack, name, True))


def _use(name, is_so, may_hold):
    _seen["used"] = True
    if not is_so:
        _on_own_thread(functools.partial(_lack, name, may_hold))


def _lack(name, may_hold):
    """Notes that a checkpoint leaves out gradients that are used. `may_hold`: further ones have them."""
    from ._block import note

    if name == "" and may_hold:
        if not _seen["in doubt"]:
            _seen["in doubt"] = True
            library.flor_note_unheld(_GRADIENTS.encode(), b"?", 0)
        return
    what = "executes the block" if name else "begins at the program's start"
    note(library, name, _GRADIENTS, True, f"{f'block {name}' if name else 'an iteration'} leaves gradients that are used behind it, and "
         f"checkpoints of it do not have them: a resumed recording {what}")


def _on_own_thread(call):
    """Of a model on a GPU, backward() calls hooks on another thread than that which trains."""
    call() if library.flor_active() else _waiting.append(call)


def settle():
    """Does what waits for the thread that trains. Another one may have a loop, too."""
    if not (_waiting or _unknown) or not library.flor_active():
        return
    while _waiting:
        _waiting.pop(0)()
    end_if_used()


def unknown(name):
    """Ends the replay, or the resumed recording, of a program that uses gradients that a restore of a block, or of an iteration (""), left
    unknown."""
    what = f"{_place()}: {_what(name)}"
    _on_own_thread(functools.partial(_end, name, what))
    raise RuntimeError(what)


def _what(name):
    return f"the program uses gradients that {f'block {name}' if name else 'an iteration'} left, and the checkpoint that was restored does not have them"


def _end(name, what):
    library.flor_note_unheld(name.encode(), _GRADIENTS.encode(), 1)
    library.flor_cannot_go_on(what.encode("utf-8", "replace"))


def _place():
    """Returns the innermost line of the user's own that runs."""
    from ._runtime import is_users_file

    frame = sys._getframe(2)
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "the program" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
