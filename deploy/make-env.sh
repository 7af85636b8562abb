#!/bin/sh
# Writes an environment file for compose.yaml with new keys, readable only by its owner: .env, or the file that the first
# argument names. Does not overwrite an existing file.
set -euC
umask 077

key() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

cat > "${1:-.env}" <<END
# Keys of the API: a comma-separated list of role:key or role:key:name with the roles viewer, editor and admin, keys of at
# least 16 characters; the name is that of the person who uses the key, such as editor:<key>:Ada
SVC_API_KEYS=admin:$(key),editor:$(key),viewer:$(key)
# The key with which Prometheus reads /metrics
SVC_METRICS_KEY=$(key)
# Encrypts hub tokens of asynchronous imports; the same on every api and worker
SVC_JOB_KEY=$(key)
POSTGRES_PASSWORD=$(key)
GRAFANA_PASSWORD=$(key)
# Further names that requests may have in Host: a comma-separated list; without it, only keys are checked
SVC_ALLOWED_HOSTS=
# true if all requests come through your proxy: the service then trusts X-Forwarded-Proto and X-Forwarded-For
SVC_TRUST_PROXY=false
# Host ports of the API, one per api container, such as 8080-8081
SVC_PORTS=8080
# For private and gated hub datasets, and a higher rate limit
HUB_TOKEN=
END
