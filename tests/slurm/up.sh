#!/usr/bin/env bash
# Starts a separate Slurm on this machine, with virtual nodes n1 to nN, as root, in about a second. No systemd needed;
# several may run beside each other and beside a real one: keys, sockets, ports and state are in or named in the folder.
# usage: tests/slurm/up.sh FOLDER [N]         (a new or empty folder; N nodes of 2 processors, default 4)
#        export SLURM_CONF=FOLDER/slurm.conf  (then sbatch, squeue, scontrol ... mean this one)
#        tests/slurm/down.sh FOLDER
set -euo pipefail
export PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
fail() {
  echo "slurm up: $1" >&2
  exit 1
}
[ $# -ge 1 ] || fail "usage: up.sh FOLDER [N]"
folder=$(realpath -m "$1") nodes=${2:-4}
case $folder in
  *[[:space:]%,]*) fail "Slurm wants a folder without blanks, commas and percent signs, not '$folder'" ;;
esac
[ "$(id -u)" = 0 ] || fail "the daemons need root"
for tool in munged slurmctld slurmd sbatch ss; do
  command -v "$tool" >/dev/null || fail "no $tool (packages: munge slurmctld slurmd slurm-client iproute2)"
done
mkdir -p "$folder"
[ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
down() {
  trap - EXIT
  tail -n 5 "$folder"/log/*.log >&2 || true
  env -u VIRTUAL_SLURM_DAEMON "$(dirname "${BASH_SOURCE[0]}")/down.sh" "$folder" || true
  exit 1
}

# The first of a series of unused ports: one for the controller, one for each node.
free_ports() {
  local first port used try
  used=" $(ss -Htln | awk '{ sub(/.*:/, "", $4); print $4 }' | tr '\n' ' ')"
  for try in $(seq 0 499); do
    first=$((12000 + ($$ * 16 + try * 16) % 16000))
    for port in $(seq "$first" $((first + nodes))); do
      case $used in *" $port "*) continue 2 ;; esac
    done
    echo "$first"
    return
  done
  fail "no free ports"
}

export SLURM_CONF=$folder/slurm.conf VIRTUAL_SLURM_DAEMON=yes # by these, down.sh recognises its processes
host=$(hostname -s) port=$(free_ports)
mkdir -p "$folder"/{munge,ctld,log}
for node in $(seq "$nodes"); do mkdir -p "$folder/d.n$node" "$folder/tmp.n$node"; done
chmod 755 "$folder" "$folder/munge"
cat >"$SLURM_CONF" <<END
ClusterName=virtual
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A requeued job waits until its old credential has expired.
AuthInfo=socket=$folder/munge/socket,cred_expire=5
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmdSpoolDir=$folder/d.%n
StateSaveLocation=$folder/ctld
SlurmctldLogFile=$folder/log/ctld.log
SlurmdLogFile=$folder/log/%n.log
TmpFS=$folder/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$folder/log/jobcomp.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
MpiDefault=pmix
ReturnToService=2
SlurmdTimeout=10
KillWait=5
PropagateResourceLimitsExcept=MEMLOCK
MailProg=/bin/true
NodeName=DEFAULT CPUs=2 RealMemory=4000 State=UNKNOWN
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))]
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END

trap down EXIT
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge/key")
# --force: its folder may be one that only root can enter.
munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munge/pid" \
  --log-file="$folder/log/munged.log" --seed-file="$folder/munge/seed" 2>"$folder/log/munged.warnings"
slurmctld
for node in $(seq "$nodes"); do slurmd -N "n$node"; done
deadline=$((SECONDS + 20))
until [ "$(sinfo -hN -t idle -o %N 2>/dev/null | sort -u | wc -l)" = "$nodes" ]; do
  [ $SECONDS -lt $deadline ] || fail "the nodes are not idle after 20 s"
  sleep 0.1
done
trap - EXIT
echo "slurm up: $nodes nodes; export SLURM_CONF=$SLURM_CONF"
