#!/usr/bin/env bash
# dspeed takes the sampling period of a table's first waveform for all of them, and writes it over the others.
#
# Seen with dspeed 2.4.3 (legend-pydataobj 2.0.3).
# Guess: a WaveformTable has a column dt, "the sampling period for the waveform at values[i]". Times that a processor gives
# in ns are t0 + sample * dt of their own row, as t0 is indeed taken row by row; so hits of digitizers of 125 and 62.5 MHz
# can be processed in one table.
# Behaviour: the period of row 0 counts for all rows, without a warning. A pulse at sample 500 of 16 ns is at 4,000 ns
# instead of 8,000 if an 8 ns channel comes first. The column dt of a table in memory is overwritten: if the table is written
# to a file afterwards, the true periods are lost.
# For users: one table per sampling period; or select rows by dt before the processing, in copies.
#
# usage: findings/dspeed_takes_the_first_sampling_period.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile dspeed==2.4.3 legend-pydataobj==2.0.3 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import numpy as np
from dspeed import build_dsp
from lgdo import Table, WaveformTable

recipe = {
    "outputs": ["tp_max"],
    "processors": {
        "tp_min, tp_max, wf_min, wf_max": {
            "function": "min_max",
            "module": "dspeed.processors",
            "args": ["waveform", "tp_min", "tp_max", "wf_min", "wf_max"],
            "unit": ["ns", "ns", "ADC", "ADC"],
        }
    },
}


def process(first):
    """Two channels in turn, of 8 and 16 ns, each with a pulse at sample 500; t0 is 0 and, in rows 2 and 3, 100 ns."""
    samples = np.full((4, 1000), 100, "uint16")
    samples[:, 500] = 900
    periods = np.array([8.0, 16.0, 8.0, 16.0]) if first == 8 else np.array([16.0, 8.0, 16.0, 8.0])
    waveforms = WaveformTable(t0=np.array([0.0, 0, 100, 100]), t0_units="ns", dt=periods.copy(), dt_units="ns", values=samples)
    table = Table({"waveform": waveforms})
    times = build_dsp(raw_in=table, dsp_config=recipe)["tp_max"]
    print("dt", periods, "ns: pulses at", times.nda, times.attrs["units"] + "; dt afterwards", waveforms.dt.nda)


process(8)
process(16)
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
dt [ 8. 16.  8. 16.] ns: pulses at [4000. 4000. 4100. 4100.] ns; dt afterwards [8. 8. 8. 8.]
dt [16.  8. 16.  8.] ns: pulses at [8000. 8000. 8100. 8100.] ns; dt afterwards [16. 16. 16. 16.]
END
diff expected seen
echo "as described"
