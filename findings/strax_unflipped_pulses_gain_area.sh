#!/usr/bin/env bash
# strax adds the fraction of the baseline to the areas of pulses that it does not flip, where it has to be taken off.
#
# Seen with strax 2.2.3.
# Guess: strax.baseline(flip=True) is for negative pulses and flip=False for positive ones, and the same pulse of either sign
# has the same area.
# Behaviour: baseline() takes int(baseline) off the samples and leaves the fraction (baseline % 1) to integrate() and
# find_hits(), which always add it. That is right for flipped samples, int(baseline) - sample; for others, sample -
# int(baseline), the sign is wrong: areas come out too large by twice the fraction for each sample, on average by one ADC
# count a sample: here 10 %.
# For users: turn the raw samples of positive pulses over beforehand (2**bits - 1 - sample), and use flip=True.
#
# usage: findings/strax_unflipped_pulses_gain_area.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile strax==2.2.3 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import numpy as np
import strax

# 1,000 records of 100 samples: a baseline at 8,000 with noise of 2 counts, and a pulse of 10 samples with 100 counts.
noise = np.round(np.random.default_rng(1).normal(8000, 2, (1000, 100)))
pulse = np.zeros(100)
pulse[60:70] = 100


def areas(samples, flip):
    records = np.zeros(1000, strax.record_dtype(100))
    records["data"] = samples
    records["length"] = records["pulse_length"] = 100
    records["dt"] = 2
    records["time"] = 10000 * np.arange(1000)
    strax.baseline(records, flip=flip)
    strax.integrate(records)
    hits = strax.find_hits(records, min_amplitude=30)
    assert len(hits) == 1000
    fraction = records["baseline"] % 1
    return records["area"].mean(), hits["area"].mean(), (records["area"] - 2 * 100 * fraction).mean()


for name, samples, flip in (
    ("negative pulses, flip=True", noise - pulse, True),
    ("positive pulses, flip=False", noise + pulse, False),
    ("positive pulses turned over, flip=True", 16383 - (noise + pulse), True),
):
    record, hit, mended = areas(samples, flip)
    print(f"{name}: {record:.0f} in the record, {hit:.0f} in the hit", end="")
    print(f"; less twice the fraction: {mended:.0f}" if not flip else "")
PYTHON
cat seen

# Seen on 2026-11-30 (the pulse has 1,000 counts):
cat >expected <<'END'
negative pulses, flip=True: 1000 in the record, 1000 in the hit
positive pulses, flip=False: 1095 in the record, 1009 in the hit; less twice the fraction: 999
positive pulses turned over, flip=True: 999 in the record, 1000 in the hit
END
diff expected seen
echo "as described"
