#!/bin/sh
# Prints the alerts as a PrometheusRule for the Prometheus operator.
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
