# The package of Eventloom for Spack. In a clone: `spack repo create my_repo`, copy this to
# my_repo/packages/eventloom/package.py, `spack repo add my_repo`, then
# `spack dev-build --source-path CLONE eventloom@main`.
from spack.package import *


class Eventloom(CMakePackage):
    """Builds events from many streams of time-stamped detector hits in parallel, over one-sided MPI, and writes them to HDF5."""

    license("Apache-2.0")

    version("main")

    variant("highway", default=True, description="Hits are decoded by vector instructions, with Highway")
    variant("isal", default=True, description="Checksums by ISA-L")
    variant("simulate", default=False, description="`eventloom simulate`, with SimGrid")
    variant("zeromq", default=False, description="`eventloom bench` compares with ZeroMQ")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("mpi")
    depends_on("hdf5~mpi")
    depends_on("boost+program_options")
    depends_on("spdlog")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("highway", when="+highway")
    depends_on("isa-l", when="+isal")
    depends_on("simgrid", when="+simulate")
    depends_on("libzmq", when="+zeromq")

    def cmake_args(self):
        return [
            self.define_from_variant("EVENTLOOM_HIGHWAY", "highway"),
            self.define_from_variant("EVENTLOOM_ISAL", "isal"),
        ]
