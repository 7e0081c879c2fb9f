# Spack's recipe of Flor. `spack repo add packaging/spack && spack install flor` builds what is committed in this clone.
import pathlib

from spack.package import *


class Flor(CMakePackage):
    """Records training runs of LibTorch programs cheaply, and replays them in parallel, as a job of Slurm, with log
    statements that were added later."""

    # The clone that holds this file: packaging/spack/packages/flor/package.py.
    git = f"file://{pathlib.Path(__file__).resolve().parents[4]}"

    license("Apache-2.0")

    version("main", branch="main")

    variant("slurm", default=True, description="Build the plugin that adds --flor-record to srun, sbatch and salloc")
    variant("torch", default=True, description="Build libflor, which training programs link")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    # Manual pages and completions.
    depends_on("python@3.9:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("xxhash", type="build")
    depends_on("boost@1.74:", type="build")
    depends_on("hiredis")
    depends_on("minizip")
    depends_on("sqlite@3.31:")
    depends_on("libpng")
    depends_on("py-torch@1.13:", when="+torch")
    # The plugin loads into the release of Slurm that it was built for.
    depends_on("slurm@22.05:", when="+slurm")
    # flor replay --launcher local starts a server of its own.
    depends_on("redis@7:", type="run")

    def cmake_args(self):
        return [
            self.define_from_variant("FLOR_SPANK", "slurm"),
            self.define_from_variant("FLOR_TORCH", "torch"),
            self.define("FLOR_EXAMPLES", False),
            self.define("FLOR_TESTS", False),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_version(self):
        Executable(self.prefix.bin.flor)("--version")
