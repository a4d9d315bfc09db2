"""Names and groups of the hits' channels in frames and exported files: the rows of the detector map applied in plain Python."""

import json
import os
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from detector_reference import channels_of, sources_of, write_map
from program import Run, generate
from readers import PYTHON, needs_readers
from results import read_merged

DEFINE = ["--define", "gap:100,4"]
SECOND, THIRD = 1 << 22, 2 << 22  # first of 1024 channels of these sources, as `generate` makes them
ROWS = [{"source": "0-2", "name": "any", "group": "outer"},
        {"source": "", "channel": f"500-{SECOND + 99}", "name": "Größe, \"x\"", "group": ""},
        {"source": "1", "channel": f"{SECOND + 50}-{SECOND + 600}", "name": "", "group": "inner;top"},
        {"source": "1", "channel": f"{SECOND + 300}", "name": "one", "group": ""},
        {"source": "2", "channel": f"{THIRD + 700}-0xfffffff", "name": "last", "group": "inner"}]
ADDED = {"low": (100, SECOND + 70)}  # by --group: channels of any source


def expected(sources, channels):
    """{"name": a text for each hit, "group": a set of names for each hit}: later rows overrule earlier ones, cell by cell."""
    found = {"name": [], "group": []}
    for source, channel in zip(sources.tolist(), channels.tolist()):
        cells = {"name": "", "group": ""}
        for row in ROWS:
            first, last = channels_of(row.get("channel", ""))
            if source in sources_of(row["source"], list("0123")) and first <= channel <= last:
                cells.update({column: row[column] for column in cells if row[column]})
        found["name"].append(cells["name"])
        added = {name for name, (first, last) in ADDED.items() if first <= channel <= last}
        found["group"].append({name for name in cells["group"].split(";") if name} | added)
    return found


def as_sets(texts):
    return [set(filter(None, text.split(";"))) for text in texts]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("streams"), sources=4, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=200_000, duration="20ms", payload=1, seed=5)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    folder = tmp_path_factory.mktemp("run")
    groups = [word for name, (first, last) in ADDED.items() for word in ("--group", f"{name}=channel:{first}-{last}")]
    return Run(folder, sources, *DEFINE, "--detector", write_map(folder / "map.csv", ROWS), *groups, "--builders", "2",
               "--segment-size", "50000", np=2)


@pytest.fixture(scope="module")
def truth(run):
    merged = read_merged(run.merged)
    found = expected(merged["hits/source"], merged["hits/channel"])
    kinds = {name for name in found["name"]}, {frozenset(groups) for groups in found["group"]}
    assert len(kinds[0]) == 5 and "" in kinds[0] and len(kinds[1]) >= 5 and frozenset() in kinds[1], kinds
    return {**found, "first": merged["events/first_hit"].tolist()}


@pytest.mark.parametrize("which", ["output", "merged"])
def test_pandas(package, run, truth, which):
    with package.open(getattr(run, which)) as opened:
        hits = opened.to_pandas(names=True).hits
        assert hits["name"].tolist() == truth["name"] and as_sets(hits["group"]) == truth["group"]
        assert str(hits["name"].dtype) == str(hits["group"].dtype) == "category" and hits["name"].memory_usage(deep=True) < 2 * len(hits) + 5000
        assert hits["name"].cat.categories[0] == hits["group"].cat.categories[0] == ""
        first, last = truth["first"][3], truth["first"][9]
        assert opened[3:9].to_pandas(names=True).hits["name"].tolist() == truth["name"][first:last]
        assert not {"name", "group"} & set(opened.to_pandas().hits.columns)
        assert len(opened[:0].to_pandas(names=True).hits) == 0


def test_a_run_without_a_map(package, tmp_path, sources):
    made = Run(tmp_path, sources[:1], "--define", "gap:100,1")
    with pytest.raises(ValueError, match="has no names: its run was given neither --detector nor --group") as error:
        package.open(made.output).to_pandas(names=True)
    assert "run.h5" in str(error.value) and "\n" not in str(error.value)


def test_a_map_without_names(package, tmp_path, sources):
    """A map with only a group, in which no hit lies."""
    made = Run(tmp_path, sources[:1], "--define", "gap:100,1", "--group", "none=source:0-0", "--group", "far=channel:0xffffff0-0xfffffff", code=None)
    hits = package.open(made.output).to_pandas(names=True).hits
    assert set(hits["name"]) == {""} and set(hits["group"]) == {"none"}


@pytest.mark.parametrize("column, values", [("name", np.arange(3, dtype="u4")), ("source", np.array([b"0", b"1", b"2"])), ("group", None)])
def test_a_damaged_map(package, run, tmp_path, column, values):
    """A map of a merged file without checksums, as another program may write it."""
    path = shutil.copy(run.merged, tmp_path / "merged.h5")
    with h5py.File(path, "r+") as file:
        rows = len(file["detector/name"])
        del file[f"detector/{column}"]
        if values is not None:
            file[f"detector/{column}"] = np.resize(values, rows)
    with pytest.raises(package.DamagedFile) as error:
        package.open(path).to_pandas(names=True)
    assert "detector" in str(error.value) and "\n" not in str(error.value)


EXPORTS = """
import json, sys, awkward, eventloom, pyarrow.parquet, uproot
run, folder = eventloom.open(sys.argv[1]), sys.argv[2]
run.chunks = lambda events=100, chunks=run.chunks: chunks(events)
array = run.to_awkward(names=True)
named = array.hits[array.hits.name == "last"]
run.to_root(folder + "/t.root", names=True)
run.to_root(folder + "/n.root", kind="rntuple", names=True)
run.to_parquet(folder + "/p.parquet", names=True)
run[:0].to_root(folder + "/none.root", names=True)
run[:0].to_parquet(folder + "/none.parquet", names=True)
file = pyarrow.parquet.ParquetFile(folder + "/p.parquet")
chunks = [file.metadata.row_group(0).column(i) for i in range(file.metadata.num_columns)]
tree = uproot.open(folder + "/t.root")
texts = {name: tree[name + "s"].arrays()[name].tolist() for name in ("name", "group")}
ntuple, parquet = uproot.open(folder + "/n.root")["events"].arrays(), awkward.from_parquet(folder + "/p.parquet")
found = {"categorical": [awkward.is_categorical(array.hits[name]) for name in texts], "named": named.name.tolist(),
         "encodings": {c.path_in_schema: c.encodings for c in chunks if c.physical_type == "BYTE_ARRAY"}, "row groups": file.metadata.num_row_groups,
         "none": [awkward.from_parquet(folder + "/none.parquet").hits.name.tolist(), uproot.open(folder + "/none.root")["events"].num_entries],
         "tree": {name: [[texts[name][i] for i in event] for event in tree["events"]["hits_" + name].array().tolist()] for name in texts}}
for name, of in (("awkward", array), ("ntuple", ntuple), ("parquet", parquet)):
    found[name] = {field: of.hits[field].tolist() for field in texts}
print(json.dumps(found))
"""


@needs_readers
def test_awkward_root_and_parquet(installed, run, truth, tmp_path):
    """Runs in the Python that has them, which reads the files back."""
    done = subprocess.run([PYTHON, "-B", "-c", EXPORTS, run.output, tmp_path], env=os.environ | {"PYTHONPATH": str(installed)},
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found, pairs = json.loads(done.stdout), list(zip(truth["first"], truth["first"][1:]))
    for kind in ("awkward", "tree", "ntuple", "parquet"):
        assert found[kind]["name"] == [truth["name"][a:b] for a, b in pairs], kind
        assert [as_sets(event) for event in found[kind]["group"]] == [truth["group"][a:b] for a, b in pairs], kind
    assert found["named"] == [[name for name in truth["name"][a:b] if name == "last"] for a, b in pairs]
    assert found["categorical"] == [True, True] and found["none"] == [[], 0] and found["row groups"] > 1
    assert len(found["encodings"]) == 2 and all("RLE_DICTIONARY" in encodings for encodings in found["encodings"].values())
