"""Finds what keeps people from using the page, by axe-core, which the npm registry has: contrast, names, roles, the keyboard.

    problems(driver, folder)   of the page as it is shown now; `folder` keeps axe-core
"""
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile

VERSION = "4.14.1"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"  # of axe.min.js
GRAVE = ("serious", "critical")


def _fetch(path):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["npm", "pack", f"axe-core@{VERSION}", "--pack-destination", folder], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            print(f"NOT looked at by axe-core {VERSION}, which npm cannot get: {done.stderr}", file=sys.stderr)
            return
        with tarfile.open(os.path.join(folder, f"axe-core-{VERSION}.tgz")) as archive:
            text = archive.extractfile("package/axe.min.js").read()
    found = hashlib.sha256(text).hexdigest()
    if found != SHA256:
        raise RuntimeError(f"axe.min.js of axe-core {VERSION} is another file than when this test was written: {found}")
    with open(path + ".part", "wb") as file:
        file.write(text)
    os.replace(path + ".part", path)


def _source(folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"axe-{VERSION}.min.js")
    if not os.path.exists(path):
        _fetch(path)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def problems(driver, folder):
    """Lines about what is serious or critical: the rule, what it says, and the elements. Without a network there are none."""
    source = _source(folder)
    if source is None:
        return []
    if not driver.execute_script("return typeof axe === 'object'"):
        driver.execute_script(source)
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations), (e) => done(String(e)))")
    assert isinstance(found, list), found
    return [f"{one['id']} ({one['impact']}): {one['help']}: " + "; ".join(node["html"][:200] + " " + str(node.get("failureSummary", ""))[:300]
                                                                      for node in one["nodes"][:3])
            for one in found if one["impact"] in GRAVE]
