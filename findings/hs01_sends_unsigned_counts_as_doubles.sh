#!/usr/bin/env bash
# ess-streaming-data-types sends unsigned counts in an hs01 histogram as the bytes of doubles: all counts become about 0.
#
# Seen with ess-streaming-data-types 0.27.0.
# Guess: hs01 replaces hs00, which carries uint32 and uint64 counts. serialise_hs01 preserves int32, int64, float32 and
# float64, as its documentation says, and so converts other types to one of these; arrays "can be NumPy arrays or regular
# lists".
# Behaviour: arrays of any other type are not converted: their bytes are sent, marked as doubles. The reader gets as many
# doubles as there were counts, tiny numbers whose sum is 0 for every purpose (of uint16 and uint32 the later ones are made
# of what follows in the message). Neither side complains, and shape, edges and errors are right.
# For users: convert counts to int64 before serialise_hs01, or use da00, which knows the unsigned types.
#
# usage: findings/hs01_sends_unsigned_counts_as_doubles.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile ess-streaming-data-types==0.27.0 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import numpy as np
from streaming_data_types import deserialise_da00, deserialise_hs00, deserialise_hs01
from streaming_data_types import serialise_da00, serialise_hs00, serialise_hs01
from streaming_data_types.dataarray_da00 import Variable

counts = np.random.default_rng(1).poisson(100, 1000)
print("sent:", counts.sum(), "counts in 1000 bins")


def message(data):
    edges = {"length": 1000, "unit": "ns", "label": "tof", "bin_boundaries": np.arange(1001.0)}
    return {"source": "monitor", "timestamp": 1, "current_shape": [1000], "dim_metadata": [edges],
            "last_metadata_timestamp": 1, "data": data, "errors": np.sqrt(data.astype(float)), "info": ""}


def show(schema, sent, got):
    print(f"{schema}, {sent.dtype}: {got.sum():.0f} as {got.dtype}")


for kind in "int32", "int64", "float32", "float64", "uint16", "uint32", "uint64":
    sent = counts.astype(kind)
    got = deserialise_hs01(serialise_hs01(message(sent)))
    assert got["data"].shape == (1000,) and (got["errors"] == np.sqrt(counts)).all()
    show("hs01", sent, got["data"])
for kind in "uint32", "uint64":
    sent = counts.astype(kind)
    show("hs00", sent, deserialise_hs00(serialise_hs00(message(sent)))["data"])
    show("da00", sent, deserialise_da00(serialise_da00("monitor", 1, [Variable("signal", sent)])).data[0].data)
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
sent: 99958 counts in 1000 bins
hs01, int32: 99958 as int32
hs01, int64: 99958 as int64
hs01, float32: 99958 as float32
hs01, float64: 99958 as float64
hs01, uint16: 0 as float64
hs01, uint32: 0 as float64
hs01, uint64: 0 as float64
hs00, uint32: 99958 as uint32
da00, uint32: 99958 as uint32
hs00, uint64: 99958 as uint64
da00, uint64: 99958 as uint64
END
diff expected seen
echo "as described"
