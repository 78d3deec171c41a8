#!/bin/sh
# Makes new keys for the clients of docker-compose.yml: the keys as files under deploy/secrets, which Prometheus reads as
# well, and their hashes in .env, which compose reads. Makes a password for a Redis that has one, too: in .env, in
# deploy/secrets/redis.password, and as a line for Redis in deploy/secrets/redis.conf. Whatever else .env has stays.
set -eu
cd "$(dirname "$0")/.."
mkdir -p deploy/secrets
# Containers have users of their own, which read these files. No other user of this machine gets here.
chmod 700 deploy/secrets
umask 022
touch .env
chmod 600 .env

# remember VARIABLE VALUE
remember() {
  (umask 077 && grep -v "^$1=" .env > .env.new || true)
  echo "$1=$2" >> .env.new
  mv .env.new .env
}

for client in local prometheus; do
  key=deploy/secrets/$client.key
  openssl rand -hex 32 | tr -d '\n' > "$key"
  remember "KEY_SHA256_$(echo "$client" | tr '[:lower:]' '[:upper:]')" "$(openssl dgst -sha256 -r "$key" | cut -d ' ' -f 1)"
done
password=$(openssl rand -hex 32)
remember REDIS_PASSWORD "$password"
printf %s "$password" > deploy/secrets/redis.password
echo "requirepass $password" > deploy/secrets/redis.conf
echo "Call with: curl -H \"Authorization: Bearer \$(cat deploy/secrets/local.key)\" ..."
