#!/usr/bin/env bash
# LH5 appends a column given in us to one in ns: the numbers as they are, under the unit ns.
#
# Seen with legend-lh5io 0.3.0 and legend-pydataobj 2.0.3.
# Guess: an LH5 column carries its units, and readers go by them; so where rows with other units are appended to a table,
# they are converted, or refused, just as a table with other columns is refused.
# Behaviour: the attributes of the appended column are dropped without a word. The numbers are stored as they are, and all
# read back in the unit of the first write: an interval of 500 us becomes 500 ns. An additional column, by contrast, is
# refused.
# For users: before appending (also with lh5concat, on files of different digitizers or of different versions of a
# configuration), compare the units of each column with those in the file, and convert.
#
# usage: findings/lh5_append_keeps_the_first_unit.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile legend-lh5io==0.3.0 legend-pydataobj==2.0.3 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import lh5
import numpy as np
from lgdo import Array, Table


def show(file):
    time = lh5.read("hits", file).time
    print(file, time.nda, time.attrs["units"])


def hits(unit, *columns):
    return Table({name: Array(np.array([0.0, 500.0]), attrs={"units": unit}) for name in columns})


for file, unit in ("run1.lh5", "ns"), ("run2.lh5", "us"):
    lh5.write(hits(unit, "time"), "hits", file)
    show(file)

lh5.write(hits("ns", "time"), "hits", "appended.lh5")
lh5.write(hits("us", "time"), "hits", "appended.lh5", wo_mode="append")
show("appended.lh5")
try:
    lh5.write(hits("ns", "time", "energy"), "hits", "appended.lh5", wo_mode="append")
    print("another column: appended")
except RuntimeError:
    print("another column: refused")
PYTHON
env/bin/lh5concat --output joined.lh5 run1.lh5 run2.lh5 2>log || { cat log; exit 1; }
env/bin/python - >>seen <<'PYTHON'
import lh5

time = lh5.read("hits", "joined.lh5").time
print("joined.lh5", time.nda, time.attrs["units"])
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
run1.lh5 [  0. 500.] ns
run2.lh5 [  0. 500.] us
appended.lh5 [  0. 500.   0. 500.] ns
another column: refused
joined.lh5 [  0. 500.   0. 500.] ns
END
diff expected seen
test ! -s log
echo "as described"
