# syntax=docker/dockerfile:1

# Four images from one file: docker build --target api|worker|cli|svc .

# What is built holds no machine code, so it is built once for all platforms, on the builder's own.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /src
ENV TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1
# What is installed depends on the manifests alone, so that a change of the sources takes what was installed before.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages/jsonl-v23/package.json packages/jsonl-v23/
COPY packages/pkg-format/package.json packages/pkg-format/
COPY packages/tabular/package.json packages/tabular/
COPY packages/hub-client/package.json packages/hub-client/
COPY packages/formats/package.json packages/formats/
COPY packages/observability/package.json packages/observability/
COPY packages/client/package.json packages/client/
COPY packages/svc-pkg/package.json packages/svc-pkg/
COPY packages/service/package.json packages/service/
COPY apps/api/package.json apps/api/
COPY apps/worker/package.json apps/worker/
COPY apps/cli/package.json apps/cli/
COPY apps/web/package.json apps/web/
COPY apps/standalone/package.json apps/standalone/
COPY bench/package.json bench/
COPY examples/package.json examples/
COPY tools/node/package.json tools/node/
RUN --mount=type=cache,target=/root/.npm --mount=type=cache,target=/root/.local/share/pnpm/store \
    npx --yes pnpm@12.21.0 install --frozen-lockfile
COPY . .
RUN --mount=type=cache,target=/root/.npm --mount=type=cache,target=/root/.local/share/pnpm/store \
    npx --yes pnpm@12.21.0 run build \
    && node tools/deploy.mjs api /out/api \
    && node tools/deploy.mjs worker /out/worker \
    && node tools/deploy.mjs cli /out/cli \
    && mkdir /out/data

# The embedded PostgreSQL is machine code, chosen and not run here.
FROM --platform=$BUILDPLATFORM build AS build-svc
ARG TARGETARCH
RUN --mount=type=cache,target=/root/.npm --mount=type=cache,target=/root/.local/share/pnpm/store \
    node tools/deploy.mjs standalone /out/svc "$(echo "${TARGETARCH:-amd64}" | sed s/amd64/x64/)"

FROM node:24-bookworm-slim AS base
# GLIBC_TUNABLES: docs/deployment.md#memory
ENV NODE_ENV=production \
    GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=524288:glibc.malloc.trim_threshold=1048576
# Uploads wait here while they are checked; everything else of the file system may be read-only.
COPY --from=build --chown=node:node /out/data /data
WORKDIR /app
USER node
# Node is process 1 and hears it itself. Its young generation is bounded: docs/deployment.md#memory.
STOPSIGNAL SIGTERM

FROM base AS api
COPY --from=build /out/api /app
ENV SVC_HOST=0.0.0.0 SVC_PORT=8080 SVC_DATA_DIR=/data SVC_DRAIN_DELAY_MS=5000
EXPOSE 8080
# One for each container: two processes of the same id would take each other's files for left-overs.
VOLUME /data
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SVC_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "--initial-old-space-size=64", "dist/main.js"]

# Everything in one container, with its own PostgreSQL in the volume: one container for each volume.
FROM base AS svc
COPY --from=build-svc /out/svc /app
ENV SVC_HOST=0.0.0.0 SVC_PORT=8080 SVC_DATA_DIR=/data SVC_DRAIN_DELAY_MS=5000
EXPOSE 8080
VOLUME /data
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SVC_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "--initial-old-space-size=64", "dist/main.js"]

FROM base AS worker
COPY --from=build /out/worker /app
ENV SVC_WORKER_HOST=0.0.0.0 SVC_WORKER_PORT=9464
EXPOSE 9464
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SVC_WORKER_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "--initial-old-space-size=64", "dist/main.js"]

FROM base AS cli
COPY --from=build /out/cli /app
WORKDIR /data
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["--help"]
