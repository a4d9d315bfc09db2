#!/usr/bin/env bash
# Makes the files of one version: tests/data/older/make.sh FOLDER, with the eventloom of that version first in PATH.
# What a version cannot do yet is left out.
set -u
support=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../support" && pwd)
mkdir -p "$1" && cd "$1" || exit 1
/usr/bin/python3 "$support/older.py" .
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
build=(--define gap:25ns,4 --epochs-per-slice 2 --compress 9)

# with OPTION...: those that this version's `run` knows.
with() {
  for option; do eventloom run --help | grep -q -- "${option%%=*} " && echo "${option%%=*}" "${option#*=}"; done
}

for source in 0 1; do
  eventloom convert "csv:source_$source.csv?time=1&channel=2&payload=3&unit=ns&skip=1" --output "source_$source.epochs"
done
mpirun --oversubscribe -np 2 eventloom run --source 'file:source_*.epochs' "${build[@]}" --output run.h5 \
  --report-json report.json $(with --save-sorted=sorted)
eventloom merge run.h5 --output merged.h5 $(eventloom merge --help | grep -o -- '--nexus' | head -1)
eventloom run --source 'file:source_*.epochs' --define near=gap:25ns,4 --define many=multiplicity:50ns,6 \
  --epochs-per-slice 2 --compress 9 --output kinds.h5

# Stopped when some of its six slices are finished; the first version, which could not be stopped, is killed.
eventloom run --source 'file:source_*.epochs' "${build[@]}" --output stopped.h5 --speed 4e-5 $(with --segment-time=1ms) &
sleep 2
kill -s "$(eventloom run --help | grep -q -- --resume && echo USR1 || echo KILL)" $!
wait

# Received over UDP, and recorded.
if [ "$(with --record=record)" ]; then
  eventloom run --source udp://127.0.0.1:47310 "${build[@]}" --record record --output live.h5 &
  until grep -qi ":$(printf %04X 47310) " /proc/net/udp; do sleep 0.1; done
  eventloom send source_0.epochs --to udp://127.0.0.1:47310
  wait
  rm live.*
fi
rm source_?.csv
