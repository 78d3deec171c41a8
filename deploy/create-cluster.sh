#!/bin/sh
# Makes a Redis Cluster of empty nodes: create-cluster.sh <host>:<port>... Half of the nodes become masters with a replica
# each. A second run changes nothing.
set -eu

ask() {
  node=$1
  shift
  redis-cli -h "${node%:*}" -p "${node##*:}" "$@" 2>/dev/null | tr -d '\r'
}

# Polls a node for a minute until its answer contains the line.
await() {
  node=$1 line=$2
  shift 2
  for _ in $(seq 120); do
    ask "$node" "$@" | grep -qx "$line" && return
    sleep 0.5
  done
  echo "$node does not say $line to $*" >&2
  return 1
}

for node in "$@"; do
  await "$node" PONG ping
done

if ask "$1" cluster info | grep -qx cluster_known_nodes:1; then
  # Nodes need addresses to meet, not names.
  addresses=
  for node in "$@"; do
    addresses="$addresses $(getent ahostsv4 "${node%:*}" | awk '{ print $1; exit }'):${node##*:}"
  done
  # shellcheck disable=SC2086 # one argument for each address
  redis-cli --cluster create $addresses --cluster-replicas 1 --cluster-yes
fi

for node in "$@"; do
  await "$node" "cluster_known_nodes:$#" cluster info
  await "$node" cluster_state:ok cluster info
done
echo "The cluster is whole."
