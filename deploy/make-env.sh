#!/bin/sh
# Prints an environment file for compose.yaml with keys of its own: deploy/make-env.sh > .env
set -eu

key() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

cat <<END
# Who may call the API: a comma list of role:key with the roles viewer, editor and admin
SVC_API_KEYS=admin:$(key),editor:$(key),viewer:$(key)
# What Prometheus shows to read /metrics
SVC_METRICS_KEY=$(key)
# Seals hub tokens of asynchronous imports; the same on every api and worker
SVC_JOB_KEY=$(key)
POSTGRES_PASSWORD=$(key)
GRAFANA_PASSWORD=$(key)
# Host ports of the API; as many as there are api containers, such as 8080-8081
SVC_PORTS=8080
# For private and gated datasets of the hub, and more requests
HUB_TOKEN=
END
