#!/usr/bin/env bash
# Loads records into Redis through Pipeset: streamed, and once only, whatever happens to the connection.
#
#     PIPESET_URL=http://localhost:8080 PIPESET_KEY=... ./load.sh 1000000 user:
#
# Needs curl 7.55 or later, and jq. It ends with 0 if all records ran, and else with 1: failed.ndjson then has the others, which
# can be posted again as they are.
set -eu
url=${PIPESET_URL:-http://localhost:8080}
count=${1:-1000000}
prefix=${2:-user:}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
# In a file, as everybody on the machine can read command lines.
(umask 077 && echo "${PIPESET_KEY:+Authorization: Bearer $PIPESET_KEY}" > "$temp/key")

# The records, as the pipe takes them.
records() {
  seq 0 $((count - 1)) |
    awk -v prefix="$prefix" '{ printf "{\"op\":\"HSET\",\"key\":\"%s%s\",\"fields\":{\"name\":\"User %s\"}}\n", prefix, $1, $1 }'
}

header() {
  tr -d '\r' < "$temp/headers" | awk -v name="$1:" 'tolower($1) == name { value = $2 } END { print value }'
}

# Sends a request again for as long as another attempt may have a better answer: call BODY CURL_ARGUMENT..., where BODY is
# a command. $status is the answer's, and its parts are in $temp.
call() {
  local body=$1 pause=0.2 wait
  shift
  for _ in $(seq 20); do
    : > "$temp/headers"
    : > "$temp/body"
    status=$("$body" 2> /dev/null | curl -sS -H "@$temp/key" -D "$temp/headers" -o "$temp/body" -w '%{http_code}' "$@") || status=lost
    if [ -n "$(header idempotency-replayed)" ]; then return; fi
    case $status in
      lost | 429 | 503) ;;
      409) grep -q ':idempotency-key-in-use"' "$temp/body" || return 0 ;;
      *) return 0 ;;
    esac
    wait=$(header retry-after)
    wait=$(awk -v a="$pause" -v b="${wait:-0}" 'BEGIN { print (a > b) ? a : b }')
    echo "Once more in $wait s: $status $(jq -r .detail "$temp/body" 2> /dev/null)" >&2
    sleep "$wait"
    pause=$(awk -v a="$pause" 'BEGIN { print (a > 15) ? 30 : 2 * a }')
  done
  echo 'Gave up' >&2
  exit 1
}

refused() {
  jq -r .detail "$temp/body" >&2
  exit 1
}

# With the same key the records run once, however often they are sent. 202: all of them were accepted. interrupted: those of an
# earlier attempt were, and the process that had them has died.
key=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
call records -X POST -T - -H 'Content-Type: application/x-ndjson' -H 'Prefer: respond-async' -H "Idempotency-Key: $key" "$url/v1/jobs"
[ "$status" = 202 ] || [ -n "$(header idempotency-replayed)" ] || grep -q ':interrupted"' "$temp/body" || refused
job=$(header location)
[ -n "$job" ] || refused

# Waits for the end of the job, and has it go on if its process has died.
while true; do
  call true "$url$job"
  [ "$status" = 200 ] || refused
  pause=$(header retry-after)
  case $(jq -r .state "$temp/body") in
    queued | running) sleep "${pause:-1}" ;;
    interrupted)
      call true -X POST "$url$job/resume"
      [ "$status" = 202 ] || refused ;;
    *) break ;;
  esac
done

jq -r '"\(.state) \(.counts | tojson)"' "$temp/body"
if jq -e .errors "$temp/body" > /dev/null; then
  curl -sS --fail -H "@$temp/key" -o failed.ndjson "$url$job/items"
  echo "$url$job: what did not run is in failed.ndjson" >&2
  exit 1
fi
