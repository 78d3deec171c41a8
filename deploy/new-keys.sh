#!/bin/sh
# Makes new keys for the clients of docker-compose.yml: the keys as files under deploy/secrets, which Prometheus reads as
# well, and their hashes in .env, which compose reads. Whatever else .env has stays.
set -eu
cd "$(dirname "$0")/.."
mkdir -p deploy/secrets
touch .env
for client in local prometheus; do
  key=deploy/secrets/$client.key
  openssl rand -hex 32 | tr -d '\n' > "$key"
  variable=KEY_SHA256_$(echo "$client" | tr '[:lower:]' '[:upper:]')
  grep -v "^$variable=" .env > .env.new || true
  echo "$variable=$(openssl dgst -sha256 -r "$key" | cut -d ' ' -f 1)" >> .env.new
  mv .env.new .env
done
echo "Call with: curl -H \"Authorization: Bearer \$(cat deploy/secrets/local.key)\" ..."
