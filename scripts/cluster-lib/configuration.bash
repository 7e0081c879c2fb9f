# What lies in the cluster's directory: its ports and configuration files. Sourced by scripts/cluster.
# shellcheck shell=bash disable=SC2154

node_prefix=${FLOR_CLUSTER_NODES:-n}
node_count=4

node_names() { seq -f "$node_prefix%.0f" "$node_count"; }

listening() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Prints the first of six free ports in a row. Where to look first depends on the directory, so that clusters which
# start at the same time rarely meet; below 32768, where Linux hands out ports by itself.
free_ports() {
  local sum base port
  sum=$(cksum <<<"$dir" | cut -d' ' -f1)
  for ((base = 20000 + sum % 1200 * 10; base < 32700; base += 10)); do
    for ((port = base; port < base + 6; ++port)); do
      listening "$port" && continue 2
    done
    echo "$base"
    return
  done
  die "no six free ports in a row between 20000 and 32700"
}

prepare_directory() {
  local path base
  is_prefix "$node_prefix" ||
    die "FLOR_CLUSTER_NODES is no prefix of node names; give at most 16 letters, digits and '-', the first a letter"
  [[ ! -e $dir ]] || die "$dir exists and is not a cluster's; remove it or set FLOR_CLUSTER_DIR to another directory"
  # The deepest socket is a step's: spool/NODE/NODE_JOB.STEP; a path of a unix socket holds 107 bytes.
  ((${#dir} <= 60)) || die "$dir: too long for the sockets in it; set FLOR_CLUSTER_DIR to a shorter path"
  create_directory
  mkdir "$dir"/{etc,log,munge,redis,run,spool,state}
  for path in $(node_names); do mkdir "$dir/spool/$path"; done
  chmod 700 "$dir/state"
  chown munge: "$dir/munge"
  chown redis: "$dir/redis"
  base=$(free_ports)
  printf '%s=%s\n' slurmctld_port "$base" slurmd_port "$((base + 1))" redis_port "$((base + 5))" \
    node_prefix "$node_prefix" >"$dir/ports"
  read_ports
}

# Two device files stand for the GPUs of a node: with File= Slurm allocates them, counts GresUsed and sets
# CUDA_VISIBLE_DEVICES as with real ones; with Count= alone it does not.
gpu_files() {
  local file found=()
  for file in /dev/tty0 /dev/tty1 /dev/null /dev/zero; do
    [[ -c $file && ${#found[@]} -lt 2 ]] && found+=("$file")
  done
  printf '%s\n' "${found[@]}"
}

write_configuration() {
  local file nodes="$node_prefix[1-$node_count]"
  gpu_files | sed "s|.*|NodeName=$nodes Name=gpu File=&|" >"$dir/etc/gres.conf"
  write_slurm_conf "$nodes" >"$dir/etc/slurm.conf"
  if version_at_least "$(slurmctld -V)" 23.11; then
    # Without it slurmd looks for a cgroup scope of its own, even with proctrack/linuxproc.
    echo 'CgroupPlugin=disabled' >"$dir/etc/cgroup.conf"
  fi
  : >"$dir/etc/plugstack.conf"
  file=$build/lib/spank_flor.so
  if [[ -e $file ]]; then
    echo "optional $file" >"$dir/etc/plugstack.conf"
  else
    echo "cluster: $file is not built: srun will not know --flor-record; run scripts/build, then scripts/cluster up" >&2
  fi
  write_redis_conf >"$dir/etc/redis.conf"
}

# version_at_least "slurm-wlm 22.05.8" 23.11
version_at_least() {
  local version=${1##* }
  [[ $(printf '%s\n' "$2" "$version" | sort -V | head -n 1) == "$2" ]]
}

# Does this machine's name resolve to 127.0.0.1? That is what Slurm's daemons and commands bind to where they are told not
# to bind to all addresses (NoInAddrAny). Another address of the loopback will not do: connections come from 127.0.0.1,
# and tasks find no srun there.
name_is_loopback() { [[ $(getent ahostsv4 "$(hostname)" | awk 'NR == 1 { print $1 }') == 127.0.0.1 ]]; }

write_slurm_conf() {
  local host ports communication=CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
  host=$(hostname -s)
  if ! name_is_loopback; then
    echo "cluster: warning: Slurm listens on all interfaces, for the name of this machine is not 127.0.0.1's;" \
      "add the line '127.0.0.1 $(hostname)' at the top of /etc/hosts, then run scripts/cluster down and up" >&2
    communication=''
  fi
  ports="[$slurmd_port-$((slurmd_port + node_count - 1))]"
  cat <<CONF
ClusterName=flor
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$slurmctld_port
$communication
SlurmUser=root
AuthType=auth/munge
# cred_expire is also how long a requeued job waits before it starts again (120 s unless said otherwise).
AuthInfo=socket=$dir/munge/socket,cred_expire=15

StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
PlugStackConfig=$dir/etc/plugstack.conf

ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
# Nodes may claim more CPUs than the machine has.
SlurmdParameters=config_overrides

# Finished jobs can be asked for one hour (scontrol show job): there is no accounting here.
MinJobAge=3600
MaxArraySize=10001
KillWait=5
MessageTimeout=60

PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=DEFAULT CPUs=4 CoresPerSocket=4 RealMemory=4000 Gres=gpu:2
NodeName=$1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$ports
PartitionName=main Nodes=$1 Default=YES PriorityTier=1 MaxTime=INFINITE PreemptMode=REQUEUE
PartitionName=urgent Nodes=$1 PriorityTier=10 MaxTime=INFINITE PreemptMode=OFF
CONF
}

write_redis_conf() {
  # A copy, not an include: the server is redis's, who may not read the tree (a clone in /root).
  cat "$root/configs/redis.conf" - <<CONF

port $redis_port
dir $dir/redis
pidfile $dir/redis/redis-server.pid
logfile $dir/redis/redis-server.log
daemonize yes
CONF
}
