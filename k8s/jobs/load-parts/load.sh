#!/bin/sh
# Tells the service to load one part, and waits for the report. The service fetches the part itself.
# Exit status 0: all records ran. 1: another pod may try again, and finds the same job. 3: another attempt would get the
# same answer.
set -eu
temp=$(mktemp -d)
part=$PART_PREFIX$JOB_COMPLETION_INDEX$PART_SUFFIX

# Calls the service. $status is the HTTP status or "lost"; $temp has the head and the body. curl reads the key from its
# input, so that no command line contains it.
call() {
  : > "$temp/head"
  : > "$temp/body"
  status=$(printf 'Authorization: Bearer %s\n' "$(cat "$KEY_FILE")" |
    curl -sS --max-time 60 ${CA_FILE:+--cacert "$CA_FILE"} -H @- -D "$temp/head" -o "$temp/body" -w '%{http_code}' "$@") || status=lost
}

header() {
  sed -n "s/^$1: *\([^[:cntrl:]]*\).*/\1/Ip" "$temp/head" | tail -n 1
}

# The first member of this name, which belongs to the report and not to an item.
member() {
  grep -o "\"$1\":\"\{0,1\}[a-z]*" "$temp/body" | head -n 1 | sed 's/.*[:"]//'
}

end() {
  echo "$part: $2: $status $(head -c 2000 "$temp/body")" >&2
  exit "$1"
}

# The idempotency key contains the uid of the Job, not its name, so a Job that is applied again has new keys. A pod that
# replaces this one finds the same job.
attempt=0
while :; do
  call -X POST -H "Idempotency-Key: $JOB_UID-$JOB_COMPLETION_INDEX" -H 'Prefer: respond-async' \
    --url-query from=url --url-query "url=$part" --url-query "op=$OP" --url-query "key=$KEY" --url-query "label=$JOB_NAME/$JOB_COMPLETION_INDEX" \
    "$PIPESET_URL/v1/jobs"
  job=$(header location)
  # The job is accepted, or an earlier pod has requested it.
  if [ -n "$job" ]; then break; fi
  case $status in
    lost | 429 | 503) ;;
    5*) end 1 "Not accepted" ;;
    *) end 3 "Not accepted" ;;
  esac
  attempt=$((attempt + 1))
  if [ "$attempt" -gt "$ATTEMPTS" ]; then end 1 "Gave up"; fi
  wait=$(header retry-after)
  sleep "${wait:-2}"
done

attempt=0
while :; do
  call "$PIPESET_URL$job"
  case $status in
    200)
      attempt=0
      case $(member state) in
        queued | running) ;;
        completed)
          if [ "$(member errors)" = false ]; then
            echo "$part: $(grep -o '"counts":{[^}]*}' "$temp/body" | head -n 1)"
            exit 0
          fi
          end 3 "Records did not run" ;;
        # Another process may resume it meanwhile.
        interrupted) end 1 "Interrupted" ;;
        *) end 3 "Did not complete" ;;
      esac ;;
    lost | 429 | 503)
      attempt=$((attempt + 1))
      if [ "$attempt" -gt "$ATTEMPTS" ]; then end 1 "Gave up"; fi ;;
    *) end 1 "No report" ;;
  esac
  wait=$(header retry-after)
  sleep "${wait:-1}"
done
