"""The order of the commit chain, as the kernel sees it: nothing that a crash of the machine could drop is referred to.
A checkpoint gets its name only behind the fsync of its bytes, which comes behind their last write; its directory is
synced behind that. (That the log is durable first is in tests/materialize: CommitNothingBeforeWhatMustBeDurable.)

    chain.py RULES_PROGRAM BIN FAILING_DISK
"""
import os
import re
import tempfile

from trainer import CHECKPOINTS, MATERIALIZERS, Trainer, arguments, end_agent, report

CALLS = "openat,pwrite64,write,fsync,fdatasync,rename,renameat,renameat2"


def events(log):
    """(call, path) in order; a rename's path is its target. Calls that were interrupted by others count when they end."""
    pending = {}
    with open(log) as file:
        for line in file:
            pid, rest = line.split(None, 1)
            if rest.rstrip().endswith("<unfinished ...>"):
                pending[pid] = rest
                continue
            resumed = re.match(r"<\.\.\. (\w+) resumed>", rest)
            if resumed:
                rest = pending.pop(pid, resumed.group(1) + "(") + rest
            call = re.match(r"\w+", rest).group(0)
            if re.search(r"= -1 ", rest):
                continue
            if call == "rename":
                source, target = re.findall(r'"([^"]*)"', rest)[:2]
                yield call, source, target
            elif call in ("pwrite64", "write", "fsync", "fdatasync"):
                found = re.match(r"\w+\(\d+<([^>]*)>", rest)
                if found:
                    yield call, found.group(1), None


def problems_of(log):
    written_behind_sync, unsynced_names = set(), {}
    problems, committed = [], 0
    for call, path, target in events(log):
        if call in ("pwrite64", "write"):
            written_behind_sync.add(path)
        elif call in ("fsync", "fdatasync"):
            written_behind_sync.discard(path)
            unsynced_names.pop(path, None)
        elif target.endswith(".safetensors"):
            committed += 1
            if path in written_behind_sync:
                problems.append(f"{target} was named before its bytes were synced")
            unsynced_names[os.path.dirname(target)] = target
    problems += [f"{target}: {directory} was not synced behind it" for directory, target in unsynced_names.items()]
    return problems, committed


def main():
    asked = arguments(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix="flor-chain-") as place:
        for name in MATERIALIZERS:
            trainer = Trainer(asked, place, name)
            log = trainer.path("calls")
            code, err = trainer.record(wrapper=["strace", "-f", "-qq", "-y", "-e", f"trace={CALLS}", "-o", log])
            found, committed = problems_of(log)
            if code != 0 or committed != CHECKPOINTS:
                found.append(f"exit code {code}, {committed} checkpoints: {err}")
            print(f"{name:>10}: {committed} checkpoints: {'; '.join(found) or 'in order'}")
            problems += found[:1]
        end_agent(os.path.join(place, "agent.sock"))
    report(problems, len(MATERIALIZERS))


if __name__ == "__main__":
    main()
