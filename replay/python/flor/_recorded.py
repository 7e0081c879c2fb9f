"""The sources of the run that this process replays, as they were recorded."""
import io
import json
import os
import stat
import tokenize


class Recorded:
    """`script`: the present one, which stands for the recorded script, as the files beside it do for those beside that one
    (present_path() in scheduler/commands/sources/python_program.h). Paths are absolute and without links."""

    def __init__(self, script):
        self._script = script
        run = os.path.join(os.environ["FLOR_STORE"], os.environ["FLOR_REPLAY"].split("/")[0])
        if os.lstat(run).st_uid != os.geteuid():
            raise PermissionError(f"run {os.path.basename(run)} is another user's")
        manifest = json.loads(_bytes_of(os.path.join(run, "run.json")))
        self._files = {one["path"]: os.path.join(run, one["file"]) for one in manifest.get("sources", []) if _is_inside(one["file"])}
        self._recorded = _script_of(manifest)

    def read(self, path):
        """Returns the recorded text of a present file; of a file that was not recorded the present text."""
        recorded = self._files.get(self._name_of(path))
        if recorded is None:
            with tokenize.open(path) as file:
                return file.read()
        text = io.BytesIO(_bytes_of(recorded))
        encoding, _ = tokenize.detect_encoding(text.readline)
        text.seek(0)
        return io.TextIOWrapper(text, encoding).read()

    def _name_of(self, path):
        if path == self._script:
            return self._recorded or path  # `python -m` may have found it elsewhere
        beside = os.path.relpath(path, os.path.dirname(self._script))
        name = os.path.normpath(os.path.join(os.path.dirname(self._recorded or ""), beside))
        return name if name in self._files else path


def _is_inside(name):
    return not os.path.isabs(name) and ".." not in name.split("/")


def _bytes_of(path):
    """Reads a file of a store. Waits for no FIFO, and follows no link."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no file")
        return file.read()


def _script_of(manifest):
    words, folder = manifest.get("command", []), manifest.get("cwd", "")
    for index, word in enumerate(words[1:], 1):
        if word.endswith(".py"):
            return os.path.realpath(os.path.join(folder, word))
        if word == "-m" and index + 1 < len(words):
            stem = os.path.join(folder, *words[index + 1].split("."))
            return next((os.path.realpath(path) for path in (stem + ".py", os.path.join(stem, "__main__.py")) if os.path.isfile(path)),
                        None)
    return None
