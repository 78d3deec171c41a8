#!/bin/sh
# Prints the alerts as the PrometheusRule that the Prometheus operator reads.
set -eu
cat <<'END'
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: pipeset
  labels:
    app.kubernetes.io/name: pipeset
spec:
END
sed 's/^./  &/' "$(dirname "$0")/alerts.yml"
