"""Walks through an iteration of a main loop, as a text: what clears gradients, what computes them, and what uses them. Read, not run."""
import ast

from ._optimizers import Optimizers, module_of_parameters
from ._reading import clears_of, grads_read_in, is_clipping, is_executed_by_a_call
from ._scopes import Things, arguments_of, path_of

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_STATEMENTS = 20000  # that are followed: of a larger project the answer is that it leaves some
_ALL = None  # instead of a thing: the gradients of anything
_HARMLESS = {"zero_grad", "state_dict", "load_state_dict", "add_param_group", "train", "eval", "get", "keys", "items", "values"}
_PASSING_ON = {"skip_block", "checkpointing", "loop", "main_loop", "print", "noted", "log", "isinstance", "id", "type", "len", "hasattr", "str", "repr",
               "list", "tuple", "zip", "enumerate", "dict", "set", "sum", "filter", "map", "chain", "sorted", "reversed", "next", "iter", "any", "all",
               "min", "max", "append", "getattr"}


class TooLong(Exception):
    pass


class State:
    """Things whose gradients are surely `cleared` since the iteration began; and those that are `clean`: none were surely computed since
    they were cleared last, or since the iteration began. None: all are."""

    def __init__(self, cleared, clean):
        self.cleared, self.clean = cleared, clean

    def after_backward(self):
        return State(self.cleared, frozenset())

    def after_clear(self, things):
        return State(self.cleared | things, None if self.clean is None else self.clean | things)


def _join(states):
    """Where several ways meet. None: there is no way here."""
    states = [state for state in states if state is not None]
    if not states:
        return None
    cleans = [state.clean for state in states if state.clean is not None]
    return State(frozenset.intersection(*(state.cleared for state in states)), frozenset.intersection(*cleans) if cleans else None)


class Walk:
    """Through an iteration of a main loop, and what follows. `used`: things that were not cleared before, and whether that was behind the
    loop. `added_to`: the states in front of each backward()."""

    def __init__(self, gradients, file, loop):
        self.used, self.added_to = set(), []
        self.things = Things(gradients.names, file, loop)
        self._gradients, self._file, self._loop = gradients, file, loop
        self._optimizers = Optimizers(gradients.names, self.things)
        self._frames, self._open, self._known, self._left = {}, [], {}, _MOST_STATEMENTS
        self._is_behind, self._given = False, {}

    def iteration(self):
        """Returns what there is at its end, and behind the loop."""
        exits = {"continue": [], "break": [], "return": []}
        end = self._through(self._file, self._loop.body, State(frozenset(), None), exits)
        end = _join([end, *exits["continue"]]) or State(frozenset(), None)
        return end, _join([end, *exits["break"], *exits["return"]])

    def used_by(self, file, node):
        """What an expression somewhere in the iteration uses, whatever was cleared; None among it: it may be anything."""
        before, self.used, self._known = self.used, set(), {}
        function = file.function_of(node)
        for frame in self._given.get(function, [{}]):
            self._frames = {function: frame} if frame else {}
            self._expressions(file, node, State(frozenset(), None))
        (found, self.used), self._frames = (self.used, before), {}
        return {thing for thing, _ in found}

    def follow_behind(self):
        self._is_behind = True
        todo, seen = [(self._file, self._loop)], set()
        while todo:
            file, inner = todo.pop()
            for outer in file.around(inner):
                for field in ("body", "orelse", "finalbody"):
                    body = getattr(outer, field, None)
                    if isinstance(body, list) and inner in body:
                        self._through(file, body[body.index(inner) + 1:], State(frozenset(), frozenset()), _exits())
                if isinstance(outer, _LOOPS):
                    self._through(file, [outer], State(frozenset(), frozenset()), _exits())
                if isinstance(outer, _FUNCTIONS):
                    callers = self._gradients.names.mentions.get(outer.name, ()) if outer.name not in seen else ()
                    seen.add(outer.name)
                    todo += [(owner, node) for owner, node in callers if not any(one in (outer, self._loop) for one in owner.around(node))]
                    break
                inner = outer

    def is_entered_with_gradients(self):
        """Does the project compute gradients elsewhere than in the loop, in what something mentions?"""
        inside, mentions = {self._loop, *self.things.reached}, self._gradients.names.mentions
        for file in self._gradients.project.files.values():
            for call in file.calls:
                around = list(file.around(call)) if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" else [self._loop]
                if inside.isdisjoint(around) and all(one.name in mentions for one in around if isinstance(one, _FUNCTIONS) and one.name[0] != "_"):
                    return True
        return False

    def is_in(self, thing, things):
        """Are a thing's gradients surely among those of others? None: of all."""
        if things is None or thing is _ALL:
            return things is None
        modules, _ = self._optimizers.of(thing)
        return thing in things or (bool(modules) and all(self._is_module_in(module, things) for module in modules)) or self._is_module_in(thing, things)

    def _is_module_in(self, module, things):
        parts = {(module[0], module[1][:count]) for count in range(1, len(module[1]) + 1)}
        return any(thing in parts or not parts.isdisjoint(self._optimizers.of(thing)[1]) for thing in things)

    def _through(self, file, statements, state, exits):
        for statement in statements:
            if state is None:
                return None
            self._left -= 1
            if self._left < 0:
                raise TooLong
            state = self._statement(file, statement, state, exits)
        return state

    def _statement(self, file, node, state, exits):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            return state
        if isinstance(node, (ast.Continue, ast.Break)):
            exits["continue" if isinstance(node, ast.Continue) else "break"].append(state)
            return None
        if isinstance(node, (ast.Return, ast.Raise)):
            state = self._expressions(file, node, state)
            if isinstance(node, ast.Return):
                exits["return"].append(state)
            return None
        if isinstance(node, ast.If):
            return self._if(file, node, state, exits)
        if isinstance(node, _LOOPS):
            return self._loop_in(file, node, state, exits)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                state = self._expressions(file, item.context_expr, state)
            end = self._through(file, node.body, state, exits)
            return _join([end, state.after_backward()]) if any(self._may_swallow(file, item.context_expr) for item in node.items) else end
        if isinstance(node, ast.Try) or hasattr(node, "finalbody"):
            return self._try(file, node, state, exits)
        if hasattr(node, "cases"):
            state = self._expressions(file, node.subject, state)
            return _join([state, *(self._through(file, case.body, state, exits) for case in node.cases)])
        return self._expressions(file, node, state)

    def _if(self, file, node, state, exits):
        state = self._expressions(file, node.test, state)
        body = self._through(file, node.body, state, exits)
        if isinstance(node.test, ast.Call) and isinstance(node.test.func, ast.Attribute) and node.test.func.attr == "step_into":
            return body
        return _join([body, self._through(file, node.orelse, state, exits)])

    def _try(self, file, node, state, exits):
        """An exception may come from anywhere in the body: what was computed is there, and what is cleared later is not."""
        raised = state.after_backward()
        body = self._through(file, node.body, state, exits)
        ways = [self._through(file, node.orelse, body, exits) if body is not None else None]
        ways += [self._through(file, handler.body, raised, exits) for handler in node.handlers]
        end = _join(ways)
        if node.finalbody:
            self._through(file, node.finalbody, raised, exits)
            end = self._through(file, node.finalbody, end, exits) if end is not None else None
        return end

    def _may_swallow(self, file, text):
        """May a context manager end an exception, and go on behind its statement?"""
        name = text.func if isinstance(text, ast.Call) else text
        word = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        exits = [function for _, kind in self._gradients.names.classes.get(word, ()) for function in kind.body if getattr(function, "name", "") == "__exit__"]
        functions = [function for _, function in self._gradients.names.defined(file, name)]
        return word == "suppress" or any(isinstance(part, ast.Return) and part.value is not None for one in exits for part in ast.walk(one)) or \
            any(isinstance(part, ast.ExceptHandler) for one in functions for part in ast.walk(one))

    def _loop_in(self, file, node, state, exits):
        """Twice: a second iteration may find what the first one left. One over what is not written out may have none."""
        state = self._expressions(file, node.test if isinstance(node, ast.While) else node.iter, state)
        ways = [] if _begins(node) else [state]
        for _ in range(2):
            own = {"continue": [], "break": [], "return": exits["return"]}
            state = _join([self._through(file, node.body, state, own), *own["continue"]])
            ways += [state, *own["break"]]
            if state is None:
                break
        module = clears_of(node)
        end = _join(ways)
        if end is not None and module is not None:
            end = self._cleared(file, node, module, end)
        return self._through(file, node.orelse, end, exits) if end is not None else None

    def _cleared(self, file, node, text, state):
        thing = self.things.of(file, node, text, self._frames)
        return state if thing is None else state.after_clear({thing})

    def _use(self, thing, state):
        if not self.is_in(thing, state.cleared):
            self.used.add((thing, self._is_behind))

    def _expressions(self, file, node, state):
        """Follows the calls of an expression or a simple statement, in the order of their ends."""
        conditional = set()
        for part in file.nodes_in(node):
            for value in part.values[1:] if isinstance(part, ast.BoolOp) else [part.body, part.orelse] if isinstance(part, ast.IfExp) else \
                    [part] if isinstance(part, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) else ():
                conditional.update(file.calls_in(value))
        for call in sorted(file.calls_in(node), key=lambda call: (call.end_lineno, call.end_col_offset)):
            after = self._call(file, call, state)
            state = _join([state, after]) if call in conditional else after
        for read in grads_read_in(file, node):
            self._use(self.thing_of_gradient(file, read), state)
        if isinstance(node, ast.Assign) and not _is_none(node.value) and any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in node.targets):
            state = state.after_backward()
        return state

    def thing_of_gradient(self, file, read):
        """Returns the module whose gradients an expression reads, as `p.grad` in a loop over its parameters. None: it may be any."""
        value = read.value if isinstance(read, ast.Attribute) else read.args[0] if isinstance(read.func, ast.Name) and read.args else read.func
        words = path_of(value)
        part = _before_index(value)  # of `net[0].weight` the net
        for outer in file.around(read) if words is not None and len(words) == 1 else ():
            for target, over in [(outer.target, outer.iter)] if isinstance(outer, ast.For) else \
                    [(one.target, one.iter) for one in getattr(outer, "generators", ())]:
                if any(isinstance(one, ast.Name) and one.id == words[0] for one in ast.walk(target)):
                    module = module_of_parameters(over)
                    return _ALL if module is None else self.things.of(file, over, module, self._frames)
        return self.things.of(file, read, part, self._frames) if part is not value or words is not None and len(words) > 1 else _ALL

    def _call(self, file, call, state):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        thing = self.things.of(file, call, call.func.value, self._frames) if isinstance(call.func, ast.Attribute) else None
        is_known = thing is not None and name in ("step", "zero_grad") and self._optimizers.of(thing)[0] is not None
        is_known = is_known and (name == "step" or name not in self._gradients.project.methods or not self._optimizers.is_of_the_project(thing))
        is_closed = isinstance(call.func, ast.Attribute) and name == "step"  # a closure is called before what is done with its gradients
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            state = self._functions(file, value, None, state, is_closed)
        if not is_known:
            state = self._functions(file, call.func, call, state, self._gradients.surely_calls(file, call))
        if name == "zero_grad" and isinstance(call.func, ast.Attribute) and (is_known or "zero_grad" not in self._gradients.project.methods):
            return self._cleared(file, call, call.func.value, state)
        if name == "backward":
            self.added_to.append(state)
            return state.after_backward()
        if is_clipping(name):
            module = module_of_parameters(call.args[0]) if call.args else None
            self._use(_ALL if module is None else self.things.of(file, call, module, self._frames), state)
        elif name in ("step", "unscale_") and isinstance(call.func, ast.Attribute):
            self._step(file, call, thing, is_known, state)
        elif self._is_of_an_optimizer(call, thing, name) or self._is_given_an_optimizer(file, call, name):
            self._use(_ALL, state)
            return state.after_backward()
        return state

    def _step(self, file, call, thing, is_known, state):
        """An optimizer's own, or that of a scaler, which is given one."""
        text = ast.unparse(call.func.value)
        is_followed = not is_known and "opt" not in text.lower() and bool(self._gradients.names.defined(file, call.func))
        if self._optimizers.is_none(thing, text) or is_followed:
            return
        of_scaler = call.func.attr == "unscale_" or "scal" in text.lower()
        if not of_scaler:
            self._use(thing, state)
        for value in call.args if of_scaler else ():
            self._use(self.things.of(file, call, value, self._frames), state)

    def _is_of_an_optimizer(self, call, thing, name):
        """Is it another method of an optimizer, of a package, which may step as well?"""
        words = path_of(call.func) or ()
        is_one = len(words) > 1 and ("optim" in words[-2].lower() or thing is not None and self._optimizers.of(thing)[0] is not None)
        return is_one and words[0] not in ("torch", "optim") and name not in _HARMLESS and name not in self._gradients.project.methods and not name[:1].isupper()

    def _is_given_an_optimizer(self, file, call, name):
        if name is None or name in _PASSING_ON or self._gradients.names.defined(file, call.func) or name in self._gradients.names.classes:
            return False
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        things = [self.things.of(file, call, value, self._frames) for value in given if path_of(value) is not None]
        is_one = any(thing is not None and self._optimizers.of(thing)[0] is not None for thing in things) or \
            any("optim" in path_of(value)[-1].lower() for value in given if path_of(value) is not None)
        return is_one and not self._optimizers.is_none(None, name)

    def _functions(self, file, text, call, state, is_surely):
        """Follows the functions that an expression may name. Of several of one name, as of a class and one that is derived from it, it is any."""
        pairs = [pair for pair in self._gradients.names.defined(file, text) if pair[1] in self._gradients.touching]
        ways = [self._function(file, owner, function, call, state) for owner, function in pairs]
        if not all(is_executed_by_a_call(function) for _, function in pairs) or len(pairs) < len(self._gradients.names.defined(file, text)) or not is_surely:
            ways.append(state)
        return _join(ways) or state

    def _function(self, file, owner, function, call, state):
        """What it does depends on the state and what it is given: each is followed once for each."""
        if function in self._open or function.name in ("forward", "__init__"):
            return state.after_backward() if function in self._open else state
        frame = {}
        if call is not None:
            is_bound = owner.is_method(function) and isinstance(call.func, ast.Attribute)
            given = arguments_of(function, call, call.func.value if is_bound else None)
            frame = {name: self.things.of(file, call, value, self._frames) for name, value in given.items()}
        key = (function, tuple(sorted((name, repr(thing)) for name, thing in frame.items())), state.cleared, state.clean, self._is_behind)
        if key not in self._known:
            self._open.append(function)
            self._frames[function] = frame
            self._given.setdefault(function, []).append(frame)
            exits = _exits()
            end = _join([self._through(owner, function.body, state, exits), *exits["return"]])
            del self._frames[function]
            self._open.pop()
            self._known[key] = end if end is not None else state
        return self._known[key]


def _before_index(text):
    """Returns what stands in front of the first index of an expression, or all of it."""
    inner, found = text, text
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        inner, found = inner.value, inner.value if isinstance(inner, ast.Subscript) else found
    return found


def _exits():
    return {"continue": [], "break": [], "return": []}


def _begins(loop):
    """Has a loop an iteration at least?"""
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return isinstance(loop.iter, (ast.List, ast.Tuple)) and bool(loop.iter.elts)


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
