#!/usr/bin/python3
"""The same work by DABC and by Eventloom, one after the other: 1 GB of LMD data, events of 1 KB, to LMD, and two MBS servers
combined. From the page cache to the page cache: neither waits for the disk.

DABC runs an mbs::CombinerModule with buffers of 1 MiB; its examples have 64 KiB, which is slower. Its time is that in which
its file grows, as it does not end with its input. Eventloom's is that which `run` reports.

usage: tests/benchmarks/dabc.py      after jobs/setup.sh, with DABC's dabc_exe in PATH and its libraries found; takes 5 GB
"""

import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/benchmarks/dabc"
EVENTLOOM = ROOT / "build/eventloom"
PORTS = (47211, 47212)
SOURCES = [f"mbs://127.0.0.1:{port}/transport" for port in PORTS]
WHOLE = 0.98  # of the file: DABC keeps the last buffers until it is told to close it
PATIENCE = 60  # s
SETUP = """<?xml version="1.0"?>
<dabc version="2">
  <Context name="Worker">
    <Run>
      <lib value="libDabcMbs.so"/>
    </Run>
    <MemoryPool name="Pool">
      <BufferSize value="1048576"/>
      <NumBuffers value="200"/>
    </MemoryPool>
    <Module name="Combiner" class="mbs::CombinerModule">
      <NumInputs value="{n}"/>
      <NumOutputs value="1"/>
      {inputs}
      <OutputPort name="Output0" url="lmd://{output}"/>
    </Module>
  </Context>
</dabc>
"""


def recordings():
    paths = [FOLDER / f"in{k}_0000.lmd" for k in (1, 2)]
    for procid, path in enumerate(paths):
        subprocess.run([ROOT / "tests/benchmarks/lmd_file.py", path, str(7 + procid)], check=True)
        path.read_bytes()  # into the page cache
    return paths


def clear():
    for path in [*FOLDER.glob("out*"), *FOLDER.glob("run*")]:
        path.unlink()


@contextmanager
def serving(paths):
    servers = [subprocess.Popen([EVENTLOOM, "serve", path, "--port", str(port), "--once"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True) for path, port in zip(paths, PORTS)]
    try:
        for server in servers:
            server.stdout.readline()  # that it listens
        yield
    finally:
        for server in servers:
            server.kill()
            server.wait()


def growth(path, least):
    """Seconds from the first byte of the file until there are `least`, and how many there are then."""
    begun, deadline = None, time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        size, now = path.stat().st_size if path.exists() else 0, time.monotonic()
        if size and begun is None:
            begun = now
        if size >= least:
            return now - begun, size
        time.sleep(0.002)
    raise SystemExit(f"DABC has not written {least} bytes within {PATIENCE} s")


def dabc(inputs, gigabytes):
    """s/GB"""
    ports = "\n      ".join(f'<InputPort name="Input{k}" url="{url}" queue="10"/>' for k, url in enumerate(inputs))
    (FOLDER / "dabc.xml").write_text(SETUP.format(n=len(inputs), inputs=ports, output=FOLDER / "out.lmd"))
    process = subprocess.Popen(["dabc_exe", "dabc.xml"], cwd=FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seconds, size = growth(FOLDER / "out_0000.lmd", WHOLE * gigabytes * 1e9)
    finally:
        process.kill()
        process.wait()
    return seconds / size * 1e9


def eventloom(sources, gigabytes, *options):
    """s/GB"""
    words = [word for source in sources for word in ("--source", source)]
    done = subprocess.run(["eatmydata", "mpirun", "-np", "2", EVENTLOOM, "run", *words, "--define", "tag", "--epochs-per-slice",
                           "25", "--ring-depth", "32", "--progress", "none", "--output", "run.h5", *options], cwd=FOLDER,
                          check=True, capture_output=True, text=True)
    return float(re.search(r"^([\d.]+) s, ", done.stdout, re.MULTILINE)[1]) / gigabytes


def main():
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    FOLDER.mkdir(parents=True, exist_ok=True)
    paths = recordings()
    to_lmd = ["--also", "lmd:out", "--no-payload"]

    def tell(name, measure, *words):
        clear()
        print(f"{name:40} {measure(*words):6.2f} s/GB", flush=True)

    one, two = paths[0].stat().st_size / 1e9, sum(path.stat().st_size for path in paths) / 1e9
    tell("LMD to LMD, DABC", dabc, [f"lmd://{paths[0]}"], one)
    tell("LMD to LMD, Eventloom", eventloom, [f"lmd:{paths[0]}"], one, "--builders", "1", *to_lmd)
    tell("LMD to HDF5, Eventloom", eventloom, [f"lmd:{paths[0]}"], one, "--schedule", "balanced")
    with serving(paths):
        tell("two MBS servers to LMD, DABC", dabc, [f"mbs://127.0.0.1:{port}/Transport" for port in PORTS], two)
    for name, options in (("LMD", to_lmd), ("HDF5", [])):
        with serving(paths):
            tell(f"two MBS servers to {name}, Eventloom", eventloom, SOURCES, two, "--schedule", "balanced", *options)
    clear()


if __name__ == "__main__":
    main()
