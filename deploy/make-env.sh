#!/bin/sh
# Writes an environment file for compose.yaml with keys of its own, which its owner alone can read: .env, or the file that
# the first argument names. A file that is there is not written over.
set -euC
umask 077

key() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

cat > "${1:-.env}" <<END
# Who may call the API: a comma list of role:key with the roles viewer, editor and admin, keys of at least 16 characters
SVC_API_KEYS=admin:$(key),editor:$(key),viewer:$(key)
# What Prometheus shows to read /metrics
SVC_METRICS_KEY=$(key)
# Seals hub tokens of asynchronous imports; the same on every api and worker
SVC_JOB_KEY=$(key)
POSTGRES_PASSWORD=$(key)
GRAFANA_PASSWORD=$(key)
# Names that requests may have in Host, beside the service's own: a comma list; without it keys are all that counts
SVC_ALLOWED_HOSTS=
# Whether a proxy of yours stands in front: X-Forwarded-Proto and X-Forwarded-For then count
SVC_TRUST_PROXY=false
# Host ports of the API; as many as there are api containers, such as 8080-8081
SVC_PORTS=8080
# For private and gated datasets of the hub, and more requests
HUB_TOKEN=
END
