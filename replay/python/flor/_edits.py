"""Which blocks must a replay of an edited Python program execute? `python3 -m flor._edits FILE` answers `flor replay`.

FILE is JSON: {"files": [{"path": PRESENT, "recorded": TEXT, "present": TEXT}, …], "seen": [{"block": NAME, "path": PATH},
…]}, the latter what was seen to change while it was recorded. Prints JSON:

    {"all": false, "blocks": ["train"], "lead_in": [], "from_start": false, "reasons": ["train.py:9: …"],
     "probes": [{"name": "norm", "file": "train.py", "line": 9, "block": "train", "volatile": false, "withheld": "",
                 "depends": ["train"]}], "names": ["loss", "norm"], "whole_iterations": []}

`withheld`: why the rows of a log statement are not given, whatever executes. `whole_iterations`: why no unit can begin between two steps of a block's loop (_step_reads.py).

It knows one harmless edit: log statements, and what only computes their values. Any other edit makes every block execute.
A block that changes something which it does not hold (_held.py) executes as well; and where the guard leaves out what one
iteration passes to the next, a replay runs from the start. What only an execution shows, the proofs of a replay find
(docs/semantics.md, rule 19a)."""
import ast
import json
import os
import sys

from ._asked_changes import Changes
from ._callers import callers_of, is_called_plainly, mentions
from ._doubt import settled
from ._files_asked import FilesAsked
from ._folders import NOTE, SCRIPT, from_text
from ._gradient_reads import GradientReads
from ._held import unguarded_in, unheld_by, unheld_for_itself
from ._holders import path_of
from ._new_code import lasting
from ._new_variables import Harmless, passed_by_iterations, passed_by_steps
from ._program import MUTATORS, Program, leaves, may_be_left
from ._project import Project
from ._reached import Code
from ._rebound import LACKED
from ._recorded_slots import lacked_by, take_slots
from ._reports import OF_THE_MOMENT
from ._rewrite import keep_marks, rewritten
from ._skeleton import Names, Skeleton, added, first_difference, name_anew
from ._step_reads import bar_among, graph_among, lacked_by_steps, why_whole, why_written
from ._steps import is_of_steps
from ._while import CONDITION
from ._writing import note_of

# Functions that no log statement may call: they change what everybody uses.
_CHANGING = MUTATORS | {"backward", "train", "eval", "manual_seed", "seed", "shuffle", "next", "setattr", "delattr", "exec",
                        "input", "set_state", "setstate", "set_rng_state"}

class Analysis:
    """Compares recorded and present texts: pairs of programs. `seen`: (block, path) of what changed in the recording."""

    def __init__(self, pairs, seen=()):
        self._pairs, self._seen = pairs, settled(seen)
        self.all, self.from_start = False, False
        self.blocks, self.lead_in = set(), set()
        self.reasons, self.probes = [], []
        self._of_steps = []  # reasons not to begin between steps
        self._asked = {}  # the expressions of the question, and the functions that these may run, by program
        self._code = Code([present for _, present in pairs])
        self._files = FilesAsked([present for _, present in pairs], self._seen)
        self._changes, self._changed = Changes(self._code), {}  # the latter: what the recorded program changes itself, by the function of a question
        self._own = set()  # blocks that read what they changed before and do not hold
        self._gradients = GradientReads([present for _, present in pairs])
        for recorded, present in pairs:
            take_slots(recorded, present, self._seen)
            if present.is_rewritten:
                name_anew(recorded, present)
            self._compare(recorded, present)
        self._is_guarded = any(program.guards for _, program in pairs)
        for _, present in pairs:
            if present.unclear:
                self.from_start = True
                self._everything(f"{_place(present, present.unclear[0])}: flor is not used in one of its documented forms")
            self._look_at_blocks(present)
            self._look_at_guards(present)
        self._look_at_rest()
        self._lead_in_with_own()
        self.reasons.extend(note for note in [note_of([present for _, present in pairs])] if note is not None)

    def answer(self):
        blocks = sorted({block.name for _, program in self._pairs for block in program.blocks if block.name})
        names = sorted({_name_of(log) for _, program in self._pairs for log in program.logs})
        return {"all": self.all, "blocks": sorted(self.blocks), "lead_in": sorted(self.lead_in),
                "from_start": self.from_start, "reasons": self.reasons, "names": names, "whole_iterations": self._whole_iterations(),
                "probes": [{**probe, "depends": blocks} for probe in self.probes]}

    def _whole_iterations(self):
        if self.all:
            return ["every block executes: units begin at iterations"]
        found = [*self._of_steps, why_written([present for _, present in self._pairs], self._seen)]
        found += [why_whole(recorded, present, self._seen, self._asked.get(present, ())) for recorded, present in self._pairs]
        if not any(is_of_steps(name) for name, _ in self._seen):
            found.append("the record does not tell what its checkpoints between steps hold")
        return [f"{why}: units begin at iterations" for why in found if why is not None]

    def _everything(self, why):
        self.all = True
        self.reasons.append(f"{why}: every block executes")

    def _execute(self, block, why):
        if block.name is None:
            return self._everything(f"{why.replace('block None', 'a block whose name is no text')}")
        self.blocks.add(block.name)
        return self.reasons.append(f"{why}: it executes")

    def _compare(self, recorded, present):
        if ast.dump(recorded.tree) == ast.dump(present.tree):
            return
        names = Names([program for program, _ in self._pairs])
        old, new = Skeleton(recorded), Skeleton(present, names)
        is_changed = ast.dump(old.tree) != ast.dump(new.tree)
        known = {ast.dump(part) for part in old.computations}
        computations = [part for part in new.computations if ast.dump(part) not in known]
        new_logs = added(recorded, present, old.removed, new.removed, is_changed)
        useless = new.bound - {node.id for part in [*new_logs, *computations] for node in ast.walk(part) if isinstance(node, ast.Name)}
        if is_changed:
            self._take_change(present, old, new)
        elif useless:
            self._everything(f"{os.path.basename(present.path)}: no log statement uses the new variable {sorted(useless)[0]}")
        self._look_at_new(present, new.bound)
        for log in new_logs:
            self._add(present, log, computations)

    def _take_change(self, program, old, new):
        self._everything(f"{_place(program, first_difference(old.tree, new.tree))}: changed code")
        left = lasting(old.tree, new.tree, program, Harmless(program))
        if left is not None:
            self.from_start = True
            self.reasons.append(f"{_place(program, left)}: new code may leave something to later iterations: the replay runs from the start")

    def _look_at_new(self, program, names):
        passed = passed_by_steps(program, names)
        if passed is not None:
            self._of_steps.append(f"{os.path.basename(program.path)}: steps may change what the new variable {passed} leads to")
        passed = passed_by_iterations(program, names)
        if passed is not None:
            self.from_start = True  # and not without its blocks, which may be where that is changed
            self._everything(f"{os.path.basename(program.path)}: the replay runs from the start, since iterations may change what the new variable {passed} "
                             "leads to")

    def _add(self, program, log, computations):
        place = _place(program, log)
        parts = [log, *computations]
        words, functions = self._code.reached_by([*log.args, *(keyword.value for keyword in log.keywords), *computations])
        for other, part in [*((program, program.original(part)) for part in parts), *functions]:
            self._asked.setdefault(other, []).append(part)
        withheld = self._files.why_withheld(words)
        if withheld:
            self.reasons.append(f"{place}: the log statement {withheld}: its rows are not given")
        self._take_unheld(place, words, bool(withheld))
        self._take_changes(program, log, [*log.args, *(keyword.value for keyword in log.keywords), *computations], place)
        block = program.block_of(log)
        self.probes.append({"name": _name_of(log), "file": program.path, "line": log.lineno,
                            "block": block.name or "" if block else "",
                            "volatile": not withheld and any(_is_of_the_moment(part) for part in parts), "withheld": withheld})
        changing = next((name for part in parts for name in _calls(part) if name in _CHANGING or _is_in_place(name)), None)
        if changing is not None:
            self._take_gradients(program, parts, place)
            return self._everything(f"{place}: the log statement calls {changing}(), which may change state")
        self._take_gradients(program, parts, place)
        if block is not None:
            return self._execute(block, f"{place}: log added inside block {block.name}")
        function = program.scope_of(log)
        if function is program.tree or any(program.is_inside(one, function) for one in program.loops):
            return None
        return self._execute_callers(function, place)

    def _take_unheld(self, place, words, is_withheld):
        """What no checkpoint has, or none between steps."""
        reading = None if is_withheld else self._files.read_by(words)
        bar = bar_among(words, self._seen)
        graph = next((path for path in (graph_among(one, asked, self._seen) for one, asked in self._asked.items()) if path is not None), None)
        for name, what in ((reading, "and no checkpoint holds files"), (bar, "a progress bar, and no checkpoint holds what it shows"),
                           (graph, "and no checkpoint tells how it was computed")):
            if name is not None:
                self.from_start = True
                self._everything(f"{place}: the log statement uses {name}, {what}")
        lacked = lacked_by_steps(words, self._seen)
        if lacked is not None:
            self._of_steps.append(f"{place}: the log statement uses {lacked}, which may show what no checkpoint between steps has")

    def _take_changes(self, program, log, parts, place):
        """What the recorded program changes as well, checkpoints hold where it matters, and the digests of states show what becomes of it."""
        found, name = self._changes.of_question(program, log, parts), getattr(program.scope_of(log), "name", "")
        if found and name not in self._changed:
            recorded = [program for program, _ in self._pairs]
            self._changed[name] = Changes(Code(recorded)).of_loops(recorded, name)
        left = sorted(found - self._changed.get(name, set()))
        if left:
            self.from_start = True
            self._everything(f"{place}: the log statement changes {left[0]}, which the recorded program does not, so the replay runs from the start")

    def _take_gradients(self, program, parts, place):
        """A block that has the log statement executes in any case, and computes gradients itself, as a rule."""
        parts = [part for part in parts if self._gradients.any_in(program, part)]
        if any(program.block_of(program.original(part)) is None for part in parts):
            self._everything(f"{place}: the log statement reads gradients, which no checkpoint of a block holds")
        guards = [guard for _, one in self._pairs for guard in one.guards]
        paths = [path for part in parts if not program.is_rewritten for path in self._gradients.paths_in(program, part)]
        if not all(any(guard.holds(path) for guard in guards) for path in paths):
            # After a restore they would be those that this process has computed.
            self.from_start = True
            self._everything(f"{place}: the log statement reads gradients of what no guard holds, so the replay runs from the start")

    def _execute_callers(self, function, place):
        """The log stands in a function: blocks that may call it execute."""
        name = getattr(function, "name", "")
        programs = [program for _, program in self._pairs]
        callers = callers_of(programs, name)
        if not name or not all(is_called_plainly(programs, one) for one in callers):
            return self._everything(f"{place}: log added in a function whose callers are not clear")
        for _, program in self._pairs:
            for block in program.blocks:
                if mentions([block.node], callers):
                    self._execute(block, f"{place}: log added in {name}(), which block {block.name} may call")
        return None

    def _look_at_blocks(self, program):
        for block in program.blocks:
            left = leaves(program, block)
            if left is not None:
                self.lead_in.update([block.name] if block.name else [])
                why = "has more than `if NAME.step_into():`" if left is block.node else "may be left here"
                self._execute(block, f"{_place(program, left)}: block {block.name} {why}")
                continue
            seen = [path for name, path in self._seen if name == block.name and not path.startswith("+")]
            is_watched = "*" not in seen and not (program.is_rewritten and ("", "*") in self._seen)
            if not is_watched and any(probe["block"] != block.name for probe in self.probes):
                self.lead_in.update([block.name] if block.name else [])
                self._execute(block, f"{_place(program, block.node)}: not all executions of block {block.name} were watched")
                continue
            unheld = unheld_by(program, block, seen)
            elsewhere = next((path for path in seen if ":" in path), None)
            if unheld is None and elsewhere is None:
                self._note_own(program, block, seen)
                continue
            if block.name:
                self.lead_in.add(block.name)
            if unheld is None:
                self._execute(block, f"{_place(program, block.node)}: block {block.name} changes {elsewhere.replace(':', '.')}, "
                                     "which it does not hold")
                continue
            path, changed, read = unheld
            reader = f" and line {read.lineno} reads" if read is not changed else ""
            self._execute(block, f"{_place(program, changed)}: block {block.name} changes {path}, which it does not hold{reader}")

    def _note_own(self, program, block, seen):
        own = unheld_for_itself(program, block, seen)
        if own is None or block.name is None:
            return
        path, changed = own
        self._own.add(block.name)
        left = next((one for one in (may_be_left(other, loop) for _, other in self._pairs for loop in other.main_loops()) if one is not None), None)
        if left is not None:  # the last iteration executes its blocks
            self._execute(block, f"{_place(program, changed)}: block {block.name} changes {path}, which it does not hold and reads again, and the main "
                                 f"loop may be left in line {left.lineno}")

    def _lead_in_with_own(self):
        """A block that executes, and reads what it changed before without holding it, executes also in front of what was asked for."""
        self.lead_in.update(name for name in self._own if self.all or name in self.blocks)

    def _look_at_rest(self):
        """What was seen of a block or of iterations that the text does not have."""
        programs = [program for _, program in self._pairs]
        names = {block.name for program in programs for block in program.blocks}
        for name, path in self._seen:
            if name and not name.startswith("@") and name not in names:
                self.from_start = True
                self._everything(f"block {name} changes {path.replace(':', '.')}, and is not found in the sources")
            elif not name and self._is_guarded and not any(program.main_loops() for program in programs):
                self.from_start = True
                self._everything("the main loop is not found in the sources")

    def _look_at_guards(self, program):
        main_loops = program.main_loops()
        if self.probes and (len(main_loops) > 1 or any(program.loop_of(loop) is not None for loop in main_loops)):
            self.reasons.append(f"{_place(program, main_loops[0])}: of several outermost loops only the longest is replayed: no rows "
                                "come from those in front of it")
        for loop in main_loops:
            if not _is_plain(program, loop):
                self.from_start = True
                self.reasons.append(f"{_place(program, loop)}: flor.loop is not alone in its for statement: the replay runs from "
                                    "the start")
            names = ["", program.guard_of(loop).name] if program.is_rewritten else [""]
            seen = [path for name, path in self._seen if name in names and not path.startswith(("+", LACKED)) and path != CONDITION]
            if (names[0], CONDITION) in self._seen:
                self.from_start = True
                self.reasons.append(f"{_place(program, loop)}: the condition of the loop may change something: the replay runs from the start")
            likely = lacked_by(names[-1], self._seen) - set(seen)
            unguarded = unguarded_in(program, loop, seen, self._is_guarded, likely)
            elsewhere = next((path for path in seen if ":" in path), None)
            if unguarded is None and elsewhere is not None and self._is_guarded:
                unguarded = elsewhere.replace(":", "."), loop
            if unguarded is None and "*" in seen and self.probes and self._is_guarded:
                self.from_start = True
                self.reasons.append(f"{_place(program, loop)}: the recording did not watch all iterations: the replay runs from the "
                                    "start")
            if unguarded is not None:
                path, changed = unguarded
                self.from_start = True
                self.reasons.append(f"{_place(program, changed)}: an iteration passes {path} to the next, and the guard does "
                                    "not hold it: the replay runs from the start")


def _calls(node):
    """Yields the last names of what an expression calls."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and isinstance(one.func, (ast.Attribute, ast.Name)):
            yield one.func.attr if isinstance(one.func, ast.Attribute) else one.func.id


def _is_in_place(name):
    return name.endswith("_") and not name.startswith("__")


def _is_plain(program, loop):
    """`for x in flor.loop(…)` or with a bar around it: what stands beside it would not skip what it skips."""
    call = loop.iter
    if isinstance(call, ast.Call) and (path_of(call.func) or "").split(".")[-1] in ("tqdm", "trange", "track") and call.args:
        call = call.args[0]
    return program.called(call) in ("loop", "main_loop")


def _is_of_the_moment(node):
    is_marked = isinstance(node, ast.Call) and len(node.args) == 3 and isinstance(node.func, ast.Attribute) and node.func.attr == "noted"
    return is_marked or mentions([node], OF_THE_MOMENT)


def _place(program, node):
    return f"{os.path.basename(program.path)}:{getattr(node, 'lineno', 1)}"


def _name_of(log):
    first = log.args[0] if log.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _programs(asked, which):
    """Returns the programs of one side, as they are executed. Raises SyntaxError."""
    texts = {one["path"]: one[which] for one in asked["files"]}
    plain = {path: Program(path, text) for path, text in texts.items()}
    noted = {one["block"]: one["path"] for one in reversed(asked.get("seen", [])) if one["block"] in (NOTE, SCRIPT)}
    script = asked.get("script", noted.get(SCRIPT))
    if script not in texts:
        return plain

    def read(path):
        if path in texts:
            return texts[path]
        with open(path, encoding="utf-8") as file:
            return file.read()

    trees = rewritten(Project(script, read, from_text(noted.get(NOTE), script)))
    return {path: Program(path, "", trees[path]) if path in trees else one for path, one in plain.items()}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    try:
        recorded, present = _programs(asked, "recorded"), _programs(asked, "present")
    except (SyntaxError, ValueError, RecursionError) as problem:
        name = os.path.basename(getattr(problem, "filename", None) or asked.get("script") or "the program")
        return json.dump({"all": True, "reasons": [f"{name}: Python cannot read it ({problem}): every block executes"]}, sys.stdout)
    for program in [*recorded.values(), *present.values()]:
        program.outermost = asked.get("loops") or None
    for path in recorded:
        keep_marks(recorded[path].tree, present[path].tree)
    seen = [(one["block"], one["path"]) for one in asked.get("seen", [])]
    return json.dump(Analysis([(recorded[path], present[path]) for path in recorded], seen).answer(), sys.stdout)


if __name__ == "__main__":
    main()
