"""The sources of the run that this process replays, as they were recorded."""
import json
import os
import tokenize


class Recorded:
    """`script`: the present one, which stands for the recorded script, as the files beside it do for those beside that one
    (present_path() in scheduler/commands/sources/python_program.h)."""

    def __init__(self, script):
        self._script = script
        run = os.path.join(os.environ["FLOR_STORE"], os.environ["FLOR_REPLAY"].split("/")[0])
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        self._files = {one["path"]: os.path.join(run, one["file"]) for one in manifest.get("sources", [])}
        self._recorded = _script_of(manifest)

    def read(self, path):
        """Returns the recorded text of a present file; of a file that was not recorded the present text."""
        with tokenize.open(self._files.get(self._name_of(path)) or path) as file:
            return file.read()

    def _name_of(self, path):
        if path == self._script:
            return self._recorded
        beside = os.path.relpath(path, os.path.dirname(self._script))
        name = os.path.join(os.path.dirname(self._recorded or ""), beside)
        return name if name in self._files else path


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
