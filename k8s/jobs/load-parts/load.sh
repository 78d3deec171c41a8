#!/bin/sh
# Has the service load one part, and waits for its report. The service fetches the part: no row passes through this pod.
# 0: all records ran. 1: the next pod may have more luck, and asks for the same job. 3: another attempt has the same answer.
set -eu
temp=$(mktemp -d)
part=$PART_PREFIX$JOB_COMPLETION_INDEX$PART_SUFFIX

# Asks the service. $status is that of the answer, whose parts are in $temp. The key is on no command line.
call() {
  : > "$temp/head"
  : > "$temp/body"
  status=$(printf 'Authorization: Bearer %s\n' "$(cat "$KEY_FILE")" |
    curl -sS --max-time 60 ${CA_FILE:+--cacert "$CA_FILE"} -H @- -D "$temp/head" -o "$temp/body" -w '%{http_code}' "$@") || status=lost
}

header() {
  sed -n "s/^$1: *\([^[:cntrl:]]*\).*/\1/Ip" "$temp/head" | tail -n 1
}

# The first member of this name, which is that of the report itself.
member() {
  grep -o "\"$1\":\"\{0,1\}[a-z]*" "$temp/body" | head -n 1 | sed 's/.*[:"]//'
}

end() {
  echo "$part: $2: $status $(head -c 2000 "$temp/body")" >&2
  exit "$1"
}

# The key names the Job, not its name: the same Job applied again tomorrow is another one. A pod that takes the place of
# this one finds the job of this one.
attempt=0
while :; do
  call -X POST -H "Idempotency-Key: $JOB_UID-$JOB_COMPLETION_INDEX" -H 'Prefer: respond-async' \
    --url-query from=url --url-query "url=$part" --url-query "op=$OP" --url-query "key=$KEY" --url-query "label=$JOB_NAME/$JOB_COMPLETION_INDEX" \
    "$PIPESET_URL/v1/jobs"
  job=$(header location)
  # Accepted; or it runs, has run, or was interrupted, at the request of an earlier pod.
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
