"""Stand-ins for what Spack and EasyBuild give to a recipe: enough to read one and print what it says, as JSON.

    recipe_standins.py spack FILE | easybuild FILE"""
import importlib.util
import json
import sys
import types

said = {"versions": [], "variants": [], "dependencies": [], "options": {}}



class CMakePackage:
    prefix = None

    def define(self, name, value):
        said["options"][name] = value
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"

    def define_from_variant(self, name, variant):
        if variant not in said["variants"]:
            raise SystemExit(f"define_from_variant: there is no variant {variant}")
        return self.define(name, True)


def decorator(*_, **__):
    return lambda function: function


def spack(path):
    package = types.ModuleType("spack.package")
    package.CMakePackage = CMakePackage
    package.version = lambda name, **_: said["versions"].append(name)
    package.variant = lambda name, default, description: said["variants"].append(name)
    package.depends_on = lambda spec, when="", type="": said["dependencies"].append(spec.partition("@")[0])
    package.license = lambda name: None
    package.run_after = package.on_package_attributes = decorator
    package.Executable = lambda path: None
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
    spec = importlib.util.spec_from_file_location("recipe", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    recipe.Flor().cmake_args()
    said["git"] = recipe.Flor.git


def easybuild(path):
    """An easyconfig is Python without imports, where a few names are given."""
    values = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), values)  # as EasyBuild does
    for name in ("easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "moduleclass"):
        if not values.get(name):
            raise SystemExit(f"{path}: {name} is missing; EasyBuild asks for it")
    said["versions"].append(values["version"])
    for row in values["builddependencies"] + values["dependencies"]:
        name, version = row
        said["dependencies"].append(name.lower())
    for word in values["configopts"].split():
        name, _, value = word.removeprefix("-D").partition("=")
        said["options"][name] = value == "ON"
    said["files"] = [*values["sanity_check_paths"]["files"], *values["sanity_check_paths"]["dirs"]]


{"spack": spack, "easybuild": easybuild}[sys.argv[1]](sys.argv[2])
print(json.dumps(said))
