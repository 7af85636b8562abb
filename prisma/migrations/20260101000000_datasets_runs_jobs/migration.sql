-- CreateTable
CREATE TABLE "datasets" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "notes" TEXT,
    "source" TEXT NOT NULL,
    "version_hash" CHAR(64) NOT NULL,
    "schema" TEXT NOT NULL,
    "section_count" INTEGER NOT NULL,
    "item_count" INTEGER NOT NULL,
    "asset_count" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "datasets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sections" (
    "id" UUID NOT NULL,
    "dataset_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "order_index" INTEGER NOT NULL,
    "item_count" INTEGER NOT NULL,
    "section_hash" BYTEA NOT NULL,
    "file_bytes" BIGINT,
    "file_sha256" BYTEA,

    CONSTRAINT "sections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "items" (
    "section_id" UUID NOT NULL,
    "order_index" INTEGER NOT NULL,
    "item_hash" BYTEA NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "answer" JSON,
    "checker" JSON,
    "assets" JSON,

    CONSTRAINT "items_pkey" PRIMARY KEY ("section_id","order_index")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" UUID NOT NULL,
    "dataset_id" UUID NOT NULL,
    "dataset_version_hash" CHAR(64) NOT NULL,
    "name" TEXT,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "config" TEXT NOT NULL,
    "repetitions" INTEGER NOT NULL DEFAULT 1,
    "total" INTEGER NOT NULL,
    "ok" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "unscored" INTEGER NOT NULL DEFAULT 0,
    "scored" INTEGER NOT NULL DEFAULT 0,
    "score_sum" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "passed" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "request_id" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_results" (
    "run_id" UUID NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,
    "repetition" INTEGER NOT NULL,
    "section" TEXT NOT NULL,
    "item_id" TEXT,
    "status" TEXT NOT NULL,
    "output" TEXT,
    "score" DOUBLE PRECISION,
    "passed" BOOLEAN,
    "explanation" TEXT,
    "error" TEXT,
    "latency_ms" DOUBLE PRECISION,
    "usage" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "run_results_pkey" PRIMARY KEY ("run_id","section_order_index","order_index","repetition")
);

-- CreateTable
CREATE TABLE "jobs" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "request" TEXT NOT NULL,
    "sealed_token" BYTEA,
    "rows_done" BIGINT NOT NULL DEFAULT 0,
    "rows_total" BIGINT,
    "bytes_done" BIGINT NOT NULL DEFAULT 0,
    "bytes_total" BIGINT,
    "dataset_id" UUID,
    "error" TEXT,
    "request_id" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job_chunks" (
    "job_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "job_chunks_pkey" PRIMARY KEY ("job_id","index")
);

-- CreateTable
CREATE TABLE "settings" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "claim" UUID NOT NULL,
    "claimed_till" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "headers" TEXT,
    "body" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "datasets_newest_first" ON "datasets"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "datasets_version_hash" ON "datasets"("version_hash");

-- CreateIndex
CREATE INDEX "sections_by_name" ON "sections"("dataset_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "sections_in_order" ON "sections"("dataset_id", "order_index");

-- CreateIndex
CREATE INDEX "runs_newest_first" ON "runs"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_of_dataset" ON "runs"("dataset_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "jobs_of_dataset" ON "jobs"("dataset_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys"("expires_at");

-- AddForeignKey
ALTER TABLE "sections" ADD CONSTRAINT "sections_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_results" ADD CONSTRAINT "run_results_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_chunks" ADD CONSTRAINT "job_chunks_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "jobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Checks (Prisma's schema language has none)
ALTER TABLE "datasets"
    ADD CONSTRAINT "datasets_source" CHECK ("source" IN ('hub', 'pkg_zip')),
    ADD CONSTRAINT "datasets_version_hash" CHECK ("version_hash" ~ '^[0-9a-f]{64}$'),
    ADD CONSTRAINT "datasets_schema_is_json" CHECK ("schema"::json IS NOT NULL);

ALTER TABLE "runs"
    ADD CONSTRAINT "runs_status" CHECK ("status" IN ('queued', 'running', 'completed', 'failed', 'cancelling', 'cancelled')),
    ADD CONSTRAINT "runs_config_is_json" CHECK ("config"::json IS NOT NULL),
    ADD CONSTRAINT "runs_error_is_json" CHECK ("error" IS NULL OR "error"::json IS NOT NULL);

ALTER TABLE "run_results"
    ADD CONSTRAINT "run_results_status" CHECK ("status" IN ('ok', 'failed', 'unscored')),
    ADD CONSTRAINT "run_results_output_is_json" CHECK ("output" IS NULL OR "output"::json IS NOT NULL);

ALTER TABLE "jobs"
    ADD CONSTRAINT "jobs_kind" CHECK ("kind" IN ('import', 'upload')),
    ADD CONSTRAINT "jobs_status" CHECK ("status" IN ('queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled')),
    ADD CONSTRAINT "jobs_request_is_json" CHECK ("request"::json IS NOT NULL),
    ADD CONSTRAINT "jobs_error_is_json" CHECK ("error" IS NULL OR "error"::json IS NOT NULL),
    -- a secret does not outlive its use
    ADD CONSTRAINT "jobs_sealed_token_gone" CHECK ("sealed_token" IS NULL OR "finished_at" IS NULL);

ALTER TABLE "settings"
    ADD CONSTRAINT "settings_value_is_json" CHECK ("value"::json IS NOT NULL);

-- Archives are compressed already
ALTER TABLE "job_chunks" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;

