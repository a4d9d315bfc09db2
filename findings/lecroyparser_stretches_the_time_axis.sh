#!/usr/bin/env bash
# lecroyparser gives each sample of a LeCroy trace a time that is too late by its share of one sample.
#
# Seen with lecroyparser 1.4.2 (lecroyscope 1.0.0 as the other reader).
# Guess: sample k of a .trc file is at HORIZ_OFFSET + k * HORIZ_INTERVAL, as the description in the file's template says.
# Behaviour: the axis is linspace(0, N * HORIZ_INTERVAL, N), both ends included, so that samples are N / (N - 1) intervals
# apart: the first is right, the last one interval late. The same pulse gets another time when the record is cut elsewhere,
# and channels of different lengths drift apart. With 502 samples of 100 ps a pulse near the end is 0.1 ns off, and a
# frequency 0.2 %.
# For users: take y alone, and compute x from horizOffset and horizInterval.
#
# usage: findings/lecroyparser_stretches_the_time_axis.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile lecroyparser==1.4.2 lecroyscope==1.0.0 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import struct

import lecroyparser
import lecroyscope
import numpy as np


def write(name, pulse_at, samples):
    """A trace as by the template LECROY_2_3: 16 bits, little-endian, 100 ps, the trigger at the first sample."""
    data = np.zeros(samples, "<i2")
    data[pulse_at] = 1000
    head = struct.pack(
        "<16s16shh10i16si16shh9ihh4fhhfdd48s48sfd4bhhf6hfhhffh", b"WAVEDESC", b"LECROY_2_3", 1, 1, 346, 0, 0, 0, 0, 0,
        data.nbytes, 0, 0, 0, b"LECROYHDO4104", 1, b"", 0, 0, samples, samples, 0, samples - 1, 0, 1, 0, 1, 1, 0, 0,
        2**-20, 0, 32767, -32768, 12, 1, 1e-10, 0, 0, b"V", b"S", 1e-12,
        12.5, 30, 10, 30, 11, 2026, 0, 0, 0, 0, 0, 0, 11, 0, 1, 12, 0, 1, 0, 0)
    assert len(head) == 346
    with open(name, "wb") as file:
        file.write(b"#9%09d" % (len(head) + data.nbytes) + head + data.tobytes())


# The same pulse, 50 ns after the trigger, in records of three lengths.
for samples in 502, 1001, 10001:
    write("C1--pulse.trc", 500, samples)
    one, other = lecroyparser.ScopeData("C1--pulse.trc"), lecroyscope.Trace("C1--pulse.trc")
    assert (one.y == other.y).all()
    print(f"{samples} samples: lecroyparser {1e9 * one.x[one.y.argmax()]:.3f} ns,",
          f"lecroyscope {1e9 * other.x[other.y.argmax()]:.3f} ns,",
          f"last sample {(one.x[-1] - other.x[-1]) / 1e-10:.3f} intervals late")
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
502 samples: lecroyparser 50.100 ns, lecroyscope 50.000 ns, last sample 1.000 intervals late
1001 samples: lecroyparser 50.050 ns, lecroyscope 50.000 ns, last sample 1.000 intervals late
10001 samples: lecroyparser 50.005 ns, lecroyscope 50.000 ns, last sample 1.000 intervals late
END
diff expected seen
echo "as described"
