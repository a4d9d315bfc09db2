#!/usr/bin/env bash
# legend-daq2lh5 leaves out channels 8 to 15, and boards from 2 on, of a CoMPASS file that it is given without the settings.
#
# Seen with legend-daq2lh5 1.7.1.
# Guess: the XML file with CoMPASS's settings is optional, and without it the tables are made for "the max number of channels
# of a CAEN digitizer" (documentation of CompassStreamer.open_stream): a 16-channel V1730 is read as a whole. Each record of
# the file states its board and channel anyway.
# Behaviour: without the settings there are tables for 8 channels of 2 boards. Hits of the other channels are counted inside,
# and a line about them is logged at the level "debug" alone; the file that is written looks whole, and the exit code is 0.
# Channels 16 to 23 (of boards with 64) are kept, as they are taken for 0 to 7 of the same board.
# For users: hand over the settings (compass_config_file), or raise max_number_channels and max_number_of_boards in
# daq2lh5.compass.compass_config_parser; compare the number of rows with the size of the file.
#
# usage: findings/daq2lh5_drops_channels_from_8_on.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile legend-daq2lh5==1.7.1 "numpy<3"

# 3 boards with 24 channels each, 10 hits per channel. The mark 0xCAE9 (energies in ADC channels, waveforms), then u16 board,
# u16 channel, u64 ps, u16 energy, u32 flags, u8 waveform code, u32 number of samples, u16 samples.
env/bin/python - <<'PYTHON'
import struct

with open("run_1.BIN", "wb") as file:
    file.write(struct.pack("<H", 0xCAE9))
    for hit in range(720):
        file.write(struct.pack("<HHQHIBI4H", hit // 24 % 3, hit % 24, 1000000 * hit, 500, 0, 1, 4, 9, 9, 5, 9))
PYTHON
env/bin/legend-daq2lh5 --stream-type Compass --overwrite --out-spec run_1.lh5 run_1.BIN >log 2>&1 || { cat log; exit 1; }
if grep -iE "skip|warn|channel" log; then echo "something is said about the hits left out"; exit 1; fi

env/bin/python - >seen <<'PYTHON'
import lh5
import numpy as np

hits = lh5.read("CompassEvent", "run_1.lh5")
print("hits: 720 in the file,", len(hits), "read")
for board in range(3):
    channels = np.unique(hits.channel.nda[hits.board.nda == board])
    print("board", board, "channels", *channels)
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
hits: 720 in the file, 320 read
board 0 channels 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
board 1 channels 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
board 2 channels
END
diff expected seen
echo "as described"
