#!/usr/bin/env bash
# HDF5 2 copies a compressed dataset of a file with the latest format into a file with default bounds as it is.
#
# Seen with h5py 3.16.0 (HDF5 2.0.0) as the writer, and h5py 3.15.1 (HDF5 1.14.6) as the reader.
# Guess: a file that HDF5 2 makes with its default bounds is readable by HDF5 1.14, whatever is put into it; so copying the
# datasets into such a file converts one that was written with libver="latest".
# Behaviour: the copy keeps the layout message of the new format. HDF5 1.14 opens the file, and refuses the copied dataset
# ("bad version number for layout message"); a dataset that is created in the same file, with the same chunks and filter, is
# readable. Only with an upper bound of v110 does the copy fail, with "layout message version out of bounds".
# For users: to convert such a file, read the values and write them anew; copying objects does not help.
#
# usage: findings/hdf5_2_copies_keep_the_new_layout.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for name in new=3.16.0 old=3.15.1; do
  python3 -m venv "${name%=*}"
  "${name%=*}/bin/pip" -q --disable-pip-version-check install "h5py==${name#*=}" "numpy<3"
done

new/bin/python - <<'PYTHON'
import h5py
import numpy as np

with h5py.File("latest.h5", "w", libver="latest") as file:
    file.create_dataset("time", data=np.arange(10000), chunks=(1000,), compression="gzip")
with h5py.File("latest.h5") as file, h5py.File("copied.h5", "w") as out:
    file.copy("time", out, "copied")
    out.create_dataset("written", data=file["time"][...], chunks=(1000,), compression="gzip")
with h5py.File("latest.h5") as file, h5py.File("bounded.h5", "w", libver=("earliest", "v110")) as out:
    try:
        file.copy("time", out)
        print("HDF5", h5py.version.hdf5_version, "with the upper bound v110: copied")
    except RuntimeError as error:
        print("HDF5", h5py.version.hdf5_version, "with the upper bound v110:", error)
PYTHON

old/bin/python - >seen <<'PYTHON'
import h5py

with h5py.File("copied.h5") as file:
    for name in ("copied", "written"):
        try:
            print(f"HDF5 {h5py.version.hdf5_version}, {name}: the sum is {file[name][...].sum()}")
        except KeyError as error:
            print(f"HDF5 {h5py.version.hdf5_version}, {name}: {error}")
PYTHON
cat seen

# Seen on 2026-11-29:
#   HDF5 2.0.0 with the upper bound v110: Unable to synchronously copy object (layout message version out of bounds)
#   HDF5 1.14.6, copied: 'Unable to synchronously open object (bad version number for layout message)'
#   HDF5 1.14.6, written: the sum is 49995000
grep -q "copied: .*bad version number for layout message" seen
grep -q "written: the sum is 49995000" seen
echo "as described"
