#!/bin/sh
# Makes an authority and certificates for the service and for Redis, under deploy/secrets: ca.crt, service.crt and
# redis.crt, each with its .key, valid for a year. Use it if you have no authority yet.
#
#     deploy/new-certificates.sh [NAME_OF_SERVICE [NAME_OF_REDIS]]
#
# The names are host names. Both certificates are also for localhost and for the names in docker-compose.yml and k8s.
set -eu
cd "$(dirname "$0")/.."
mkdir -p deploy/secrets
# The users in the containers can read the files. Other users of this machine cannot enter the directory.
chmod 700 deploy/secrets
umask 022
cd deploy/secrets

# issue FILE NAME...
issue() {
  file=$1
  shift
  names=IP:127.0.0.1
  for name in "$@"; do names=$names,DNS:$name; done
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$names" > extensions
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$file" -keyout "$file.key" -out request 2> errors || { cat errors >&2; exit 1; }
  openssl x509 -req -in request -CA ca.crt -CAkey ca.key -set_serial "0x$(openssl rand -hex 8)" -days 365 -extfile extensions \
    -out "$file.crt" 2> errors || { cat errors >&2; exit 1; }
  chmod 644 "$file.key"
  rm request extensions errors
}

openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=Pipeset's authority" -keyout ca.key -out ca.crt 2> errors ||
  { cat errors >&2; exit 1; }
issue service localhost pipeset pipeset.pipeset.svc ${1:+"$1"}
issue redis localhost redis ${2:+"$2"}
echo "deploy/secrets has ca.crt for callers, and the certificates of the service and of Redis."
