"""Where a program's `import a.b` looks for modules that are not installed. The hook asks before the program begins (_hook.py). The record
has the answer where it is not the script's folder alone, so that a comparison of the sources reads the same files (_edits.py)."""
import json
import os

NOTE = "@folders"  # stands for a block's name in the record
SCRIPT = "@script"  # so does this: the path is what `python -m` found, which need not lie in the working directory


def folders_of(script, is_module):
    """Returns the folders in the order of sys.path. `python -m` begins in the working directory. A module may add the script's folder
    itself."""
    here = os.path.dirname(script)
    found = dict.fromkeys(map(os.path.realpath, [os.curdir if is_module else here, *_added(), here]))
    return [path for path in found if path == here or not _is_installed(path)]


def _added():
    paths = os.environ.get("PYTHONPATH")
    return [path or os.curdir for path in paths.split(os.pathsep)] if paths else []


def file_of_module(name):
    """Returns the file that `python -m NAME` runs, if that is not installed, or None."""
    for folder in dict.fromkeys(map(os.path.realpath, [os.curdir, *_added()])):
        stem = os.path.join(folder, *name.split("."))
        found = [path for path in (stem + ".py", os.path.join(stem, "__main__.py")) if os.path.isfile(path)]
        if found and (folder == os.path.realpath(os.curdir) or not _is_installed(folder)):
            return found[0]
    return None


def _is_installed(folder):
    """Is it of Flor, or made by an installer?"""
    is_ours = os.path.basename(folder) == "flor-hook" or os.path.isfile(os.path.join(folder, "flor", "_hook.py"))
    return is_ours or not {"site-packages", "dist-packages"}.isdisjoint(folder.split(os.sep))


def text_of(script, folders):
    """Returns the text of folders in a record: relative to the script's where they lie around it or in it, since the program may be replayed
    from another place. None for the script's folder alone."""
    here = os.path.dirname(script)
    words = [os.path.relpath(folder, here) if os.path.commonpath([folder, here]) in (folder, here) else folder for folder in folders]
    return None if words == [os.curdir] else json.dumps(words)


def from_text(text, script):
    """Returns the folders of a record, for a script that may lie elsewhere; of None the script's folder."""
    here = os.path.dirname(script)
    words = json.loads(text) if text is not None else [os.curdir]
    return [os.path.normpath(os.path.join(here, word)) for word in words if isinstance(word, str)]
