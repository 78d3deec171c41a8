#!/bin/sh
# Makes new keys for the clients of docker-compose.yml, and for others that are named: new-keys.sh orders. The keys are
# files under deploy/secrets, where Prometheus reads its own. The hashes are in .env, for compose. Also makes a password for
# Redis: in .env, in deploy/secrets/redis.password, and as a line of configuration in deploy/secrets/redis.conf. Other lines
# of .env stay.
set -eu
cd "$(dirname "$0")/.."
mkdir -p deploy/secrets
# The users in the containers can read the files. Other users of this machine cannot enter the directory.
chmod 700 deploy/secrets
umask 022
touch .env
chmod 600 .env

# Sets a variable in .env: remember VARIABLE VALUE
remember() {
  (umask 077 && grep -v "^$1=" .env > .env.new || true)
  echo "$1=$2" >> .env.new
  mv .env.new .env
}

for client in local prometheus "$@"; do
  key=deploy/secrets/$client.key
  openssl rand -hex 32 | tr -d '\n' > "$key"
  remember "KEY_SHA256_$(echo "$client" | tr '[:lower:]-' '[:upper:]_')" "$(openssl dgst -sha256 -r "$key" | cut -d ' ' -f 1)"
done
password=$(openssl rand -hex 32)
remember REDIS_PASSWORD "$password"
printf %s "$password" > deploy/secrets/redis.password
echo "requirepass $password" > deploy/secrets/redis.conf
echo "Call with: curl -H \"Authorization: Bearer \$(cat deploy/secrets/local.key)\" ..."
