-- CreateTable
CREATE TABLE "datasets" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "handle" TEXT,
    "description" TEXT,
    "notes" TEXT,
    "source" TEXT NOT NULL,
    "schema" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "version_count" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "datasets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "versions" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "version_hash" CHAR(64) NOT NULL,
    "section_ids" UUID[],
    "item_count" INTEGER NOT NULL,
    "asset_count" INTEGER NOT NULL,
    "source" TEXT NOT NULL,
    "message" TEXT,
    "author" TEXT,
    "added" INTEGER NOT NULL DEFAULT 0,
    "changed" INTEGER NOT NULL DEFAULT 0,
    "removed" INTEGER NOT NULL DEFAULT 0,
    "moved" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "versions_pkey" PRIMARY KEY ("dataset_id","version")
);

-- CreateTable
CREATE TABLE "sections" (
    "id" UUID NOT NULL,
    "dataset_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "item_count" INTEGER NOT NULL,
    "section_hash" BYTEA NOT NULL,
    "part_ids" UUID[],
    "starts" INTEGER[],
    "firsts" INTEGER[],
    "file_bytes" BIGINT,
    "file_sha256" BYTEA,

    CONSTRAINT "sections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "parts" (
    "id" UUID NOT NULL,
    "dataset_id" UUID NOT NULL,
    "item_count" INTEGER NOT NULL,
    "hashed_items" INTEGER NOT NULL DEFAULT 0,
    "hash_state" BYTEA,

    CONSTRAINT "parts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "items" (
    "part_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "byte_length" INTEGER NOT NULL,
    "item_hash" BYTEA NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "answer" JSON,
    "checker" JSON,
    "assets" JSON,
    "linked_files" JSON,
    "linked_bytes" BIGINT,
    "item_id" TEXT,

    CONSTRAINT "items_pkey" PRIMARY KEY ("part_id","ordinal")
);

-- CreateTable
CREATE TABLE "hash_blocks" (
    "part_id" UUID NOT NULL,
    "bucket" INTEGER NOT NULL,
    "run" INTEGER NOT NULL,
    "entries" INTEGER[],

    CONSTRAINT "hash_blocks_pkey" PRIMARY KEY ("part_id","bucket","run")
);

-- CreateTable
CREATE TABLE "assets" (
    "sha256" BYTEA NOT NULL,
    "bytes" BYTEA,
    "byte_length" BIGINT NOT NULL,
    "object_key" TEXT,

    CONSTRAINT "assets_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "dataset_assets" (
    "dataset_id" UUID NOT NULL,
    "sha256" BYTEA NOT NULL,
    "since" INTEGER NOT NULL DEFAULT 1,
    "until" INTEGER,
    "mime_type" TEXT,

    CONSTRAINT "dataset_assets_pkey" PRIMARY KEY ("dataset_id","sha256","since")
);

-- CreateTable
CREATE TABLE "released_assets" (
    "id" BIGSERIAL NOT NULL,
    "sha256" BYTEA NOT NULL,

    CONSTRAINT "released_assets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "loose_objects" (
    "object_key" TEXT NOT NULL,
    "transaction_id" BIGINT NOT NULL,

    CONSTRAINT "loose_objects_pkey" PRIMARY KEY ("object_key")
);

-- CreateTable
CREATE TABLE "loose_parts" (
    "id" BIGSERIAL NOT NULL,
    "part_id" UUID NOT NULL,

    CONSTRAINT "loose_parts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "loose_runs" (
    "id" BIGSERIAL NOT NULL,
    "run_id" UUID NOT NULL,
    "other_run_id" UUID,

    CONSTRAINT "loose_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" UUID NOT NULL,
    "dataset_id" UUID NOT NULL,
    "dataset_version" INTEGER NOT NULL,
    "dataset_version_hash" CHAR(64) NOT NULL,
    "name" TEXT,
    "labels" TEXT NOT NULL DEFAULT '[]',
    "note" TEXT,
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
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_expires_at" TIMESTAMPTZ(3),
    "worker" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "imported" BOOLEAN NOT NULL DEFAULT false,
    "origin_id" UUID,
    "plan" TEXT,
    "warnings" TEXT,
    "scorer_names" TEXT,
    "adding" TEXT,
    "is_external" BOOLEAN NOT NULL DEFAULT false,
    "claimed_section" INTEGER NOT NULL DEFAULT 0,
    "claimed_index" INTEGER NOT NULL DEFAULT 0,
    "has_selection" BOOLEAN NOT NULL DEFAULT false,
    "source_run_id" UUID,
    "reused_run_id" UUID,
    "reused" INTEGER NOT NULL DEFAULT 0,
    "is_trial" BOOLEAN NOT NULL DEFAULT false,
    "spent" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "judge_cost" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "retries" INTEGER NOT NULL DEFAULT 0,
    "retry_only" TEXT,
    "truncated" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "judge_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "judge_output_tokens" BIGINT NOT NULL DEFAULT 0,
    "results_version" BIGINT NOT NULL DEFAULT 0,
    "results_due" BIGINT,
    "summary" TEXT,
    "summary_of" TEXT,
    "summary_at" TIMESTAMPTZ(3),
    "summary_ms" INTEGER,

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
    "item_hash" BYTEA,
    "item_type" TEXT,
    "tags" TEXT[],
    "finish_reason" TEXT,
    "truncated" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER,
    "judge_usage" TEXT,
    "omitted_assets" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "judge_input_tokens" INTEGER,
    "judge_output_tokens" INTEGER,
    "reused" BOOLEAN NOT NULL DEFAULT false,
    "usage_reused" TEXT,
    "request_hash" BYTEA,
    "cost" DOUBLE PRECISION,
    "error_group" TEXT,
    "retries" INTEGER NOT NULL DEFAULT 0,
    "scored_by" TEXT,
    "scores" TEXT,
    "scorer_scores" DOUBLE PRECISION[],
    "scorer_passed" BOOLEAN[],
    "trace_id" TEXT,
    "judge_cost" DOUBLE PRECISION,
    "output_hash" BYTEA,

    CONSTRAINT "run_results_pkey" PRIMARY KEY ("run_id","section_order_index","order_index","repetition")
);

-- CreateTable
CREATE TABLE "labels" (
    "item_hash" BYTEA NOT NULL,
    "output_hash" BYTEA NOT NULL,
    "person" TEXT NOT NULL,
    "verdict" TEXT,
    "note" TEXT,
    "types" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "imported" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "labels_pkey" PRIMARY KEY ("item_hash","output_hash","person")
);

-- CreateTable
CREATE TABLE "run_items" (
    "run_id" UUID NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,

    CONSTRAINT "run_items_pkey" PRIMARY KEY ("run_id","section_order_index","order_index")
);

-- CreateTable
CREATE TABLE "run_claims" (
    "run_id" UUID NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,
    "repetition" INTEGER NOT NULL,
    "batch_id" UUID NOT NULL,

    CONSTRAINT "run_claims_pkey" PRIMARY KEY ("run_id","section_order_index","order_index","repetition")
);

-- CreateTable
CREATE TABLE "run_claim_batches" (
    "run_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "claim_seconds" INTEGER NOT NULL,
    "claimed_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_claim_batches_pkey" PRIMARY KEY ("run_id","id")
);

-- CreateTable
CREATE TABLE "run_comparisons" (
    "run_id" UUID NOT NULL,
    "other_run_id" UUID NOT NULL,
    "pair_by" TEXT NOT NULL,
    "comparison_of" TEXT NOT NULL,
    "summary" TEXT NOT NULL,

    CONSTRAINT "run_comparisons_pkey" PRIMARY KEY ("run_id","other_run_id","pair_by")
);

-- CreateTable
CREATE TABLE "run_differences" (
    "run_id" UUID NOT NULL,
    "other_run_id" UUID NOT NULL,
    "pair_by" TEXT NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,
    "other_section_order_index" INTEGER NOT NULL,
    "other_order_index" INTEGER NOT NULL,
    "score" DOUBLE PRECISION NOT NULL,
    "other_score" DOUBLE PRECISION NOT NULL,
    "passed" BOOLEAN NOT NULL,
    "other_passed" BOOLEAN NOT NULL,
    "output_changed" BOOLEAN NOT NULL,

    CONSTRAINT "run_differences_pkey" PRIMARY KEY ("run_id","other_run_id","pair_by","section_order_index","order_index")
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
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_expires_at" TIMESTAMPTZ(3),
    "worker" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
CREATE TABLE "hub_layouts" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "claim" UUID NOT NULL,
    "claimed_till" TIMESTAMPTZ(3) NOT NULL,
    "columns" TEXT,

    CONSTRAINT "hub_layouts_pkey" PRIMARY KEY ("dataset_id","version","format")
);

-- CreateTable
CREATE TABLE "hub_files" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "section_id" UUID NOT NULL,
    "first_item" INTEGER NOT NULL,
    "item_count" INTEGER NOT NULL,
    "byte_length" BIGINT NOT NULL,
    "table_bytes" BIGINT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "group_items" INTEGER[],
    "group_bytes" INTEGER[],
    "footer" BYTEA NOT NULL,

    CONSTRAINT "hub_files_pkey" PRIMARY KEY ("dataset_id","version","format","path")
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
CREATE INDEX "versions_hash" ON "versions" USING HASH ("version_hash");

-- CreateIndex
CREATE INDEX "sections_of_dataset" ON "sections"("dataset_id");

-- CreateIndex
CREATE INDEX "parts_of_dataset" ON "parts"("dataset_id");

-- CreateIndex
CREATE INDEX "dataset_assets_sha256" ON "dataset_assets"("sha256");

-- CreateIndex
CREATE INDEX "runs_of_source" ON "runs"("source_run_id");

-- CreateIndex
CREATE INDEX "runs_newest_first" ON "runs"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_of_dataset" ON "runs"("dataset_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_to_do" ON "runs"("finished_at", "available_at");

-- CreateIndex
CREATE INDEX "run_results_by_score" ON "run_results"("run_id", "score", "section_order_index", "order_index", "repetition");

-- CreateIndex
CREATE INDEX "run_results_by_latency" ON "run_results"("run_id", "latency_ms", "section_order_index", "order_index", "repetition");

-- CreateIndex
CREATE INDEX "run_results_by_output_tokens" ON "run_results"("run_id", "output_tokens", "section_order_index", "order_index", "repetition");

-- CreateIndex
CREATE INDEX "run_results_by_cost" ON "run_results"("run_id", "cost", "section_order_index", "order_index", "repetition");

-- CreateIndex
CREATE INDEX "run_results_by_item" ON "run_results"("run_id", "item_hash");

-- CreateIndex
CREATE INDEX "run_claims_of_batch" ON "run_claims"("run_id", "batch_id");

-- CreateIndex
CREATE INDEX "run_claim_batches_expiry" ON "run_claim_batches"("run_id", "claimed_until");

-- CreateIndex
CREATE INDEX "run_comparisons_of_other" ON "run_comparisons"("other_run_id");

-- CreateIndex
CREATE INDEX "jobs_by_age" ON "jobs"("created_at", "id");

-- CreateIndex
CREATE INDEX "jobs_of_dataset" ON "jobs"("dataset_id");

-- CreateIndex
CREATE INDEX "jobs_to_do" ON "jobs"("finished_at", "available_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys"("expires_at");

-- AddForeignKey
ALTER TABLE "versions" ADD CONSTRAINT "versions_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "sections" ADD CONSTRAINT "sections_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "parts" ADD CONSTRAINT "parts_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "dataset_assets" ADD CONSTRAINT "dataset_assets_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "dataset_assets" ADD CONSTRAINT "dataset_assets_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "assets"("sha256") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_dataset_id_dataset_version_fkey" FOREIGN KEY ("dataset_id", "dataset_version") REFERENCES "versions"("dataset_id", "version") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "run_claims" ADD CONSTRAINT "run_claims_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "run_claim_batches" ADD CONSTRAINT "run_claim_batches_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "run_comparisons" ADD CONSTRAINT "run_comparisons_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "run_comparisons" ADD CONSTRAINT "run_comparisons_other_run_id_fkey" FOREIGN KEY ("other_run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE SET NULL ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "job_chunks" ADD CONSTRAINT "job_chunks_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "jobs"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "hub_layouts" ADD CONSTRAINT "hub_layouts_dataset_id_version_fkey" FOREIGN KEY ("dataset_id", "version") REFERENCES "versions"("dataset_id", "version") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "hub_files" ADD CONSTRAINT "hub_files_dataset_id_version_format_fkey" FOREIGN KEY ("dataset_id", "version", "format") REFERENCES "hub_layouts"("dataset_id", "version", "format") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Prisma's schema language has no checks.
ALTER TABLE "datasets"
    ADD CONSTRAINT "datasets_source" CHECK ("source" IN ('hub', 'pkg_zip', 'file')),
    ADD CONSTRAINT "datasets_schema_is_json" CHECK ("schema"::json IS NOT NULL);

ALTER TABLE "versions"
    ADD CONSTRAINT "versions_version_hash" CHECK ("version_hash" ~ '^[0-9a-f]{64}$'),
    ADD CONSTRAINT "versions_source"
        CHECK ("source" IN ('upload', 'hub', 'append', 'upsert', 'edit', 'restore', 'replace'));

ALTER TABLE "sections"
    ADD CONSTRAINT "sections_ranges"
        CHECK (cardinality("part_ids") = cardinality("starts") AND cardinality("starts") = cardinality("firsts"));

ALTER TABLE "assets"
    ADD CONSTRAINT "assets_sha256" CHECK (octet_length("sha256") = 32),
    ADD CONSTRAINT "assets_place" CHECK (("bytes" IS NULL) <> ("object_key" IS NULL)),
    ADD CONSTRAINT "assets_byte_length" CHECK ("bytes" IS NULL OR octet_length("bytes") = "byte_length");

ALTER TABLE "runs"
    ADD CONSTRAINT "runs_status" CHECK ("status" IN ('queued', 'waiting', 'running', 'completed', 'failed', 'cancelling', 'cancelled', 'stopped')),
    ADD CONSTRAINT "runs_retry_only" CHECK ("retry_only" IN ('failed', 'unscored', 'truncated', 'missing')),
    ADD CONSTRAINT "runs_labels_is_json" CHECK ("labels"::json IS NOT NULL),
    ADD CONSTRAINT "runs_config_is_json" CHECK ("config"::json IS NOT NULL),
    ADD CONSTRAINT "runs_error_is_json" CHECK ("error" IS NULL OR "error"::json IS NOT NULL),
    ADD CONSTRAINT "runs_plan_is_json" CHECK ("plan" IS NULL OR "plan"::json IS NOT NULL),
    ADD CONSTRAINT "runs_warnings_is_json" CHECK ("warnings" IS NULL OR "warnings"::json IS NOT NULL),
    ADD CONSTRAINT "runs_summary_is_json" CHECK ("summary" IS NULL OR "summary"::json IS NOT NULL);

ALTER TABLE "run_results"
    ADD CONSTRAINT "run_results_status" CHECK ("status" IN ('ok', 'failed', 'unscored')),
    ADD CONSTRAINT "run_results_output_is_json" CHECK ("output" IS NULL OR "output"::json IS NOT NULL),
    ADD CONSTRAINT "run_results_scored_by" CHECK ("scored_by" IN ('checker', 'judge', 'client', 'label'));

ALTER TABLE "labels"
    ADD CONSTRAINT "labels_verdict" CHECK ("verdict" IN ('pass', 'fail')),
    ADD CONSTRAINT "labels_hashes" CHECK (octet_length("item_hash") = 32 AND octet_length("output_hash") = 32);

ALTER TABLE "jobs"
    ADD CONSTRAINT "jobs_kind" CHECK ("kind" IN ('import', 'upload')),
    ADD CONSTRAINT "jobs_status" CHECK ("status" IN ('queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled')),
    ADD CONSTRAINT "jobs_request_is_json" CHECK ("request"::json IS NOT NULL),
    ADD CONSTRAINT "jobs_error_is_json" CHECK ("error" IS NULL OR "error"::json IS NOT NULL),
    -- A secret does not outlive its use.
    ADD CONSTRAINT "jobs_sealed_token_gone" CHECK ("sealed_token" IS NULL OR "finished_at" IS NULL);

ALTER TABLE "settings"
    ADD CONSTRAINT "settings_value_is_json" CHECK ("value"::json IS NOT NULL);

-- Handles are unique without regard to case; they are ASCII.
CREATE UNIQUE INDEX "datasets_handle" ON "datasets"(lower("handle"));

-- The sections of each version, in order.
CREATE VIEW "version_sections" AS
    SELECT v."dataset_id", v."version", (place."n" - 1)::integer AS "order_index", s."id", s."name", s."item_count",
        s."section_hash", s."part_ids", s."starts", s."firsts", s."file_bytes", s."file_sha256"
    FROM "versions" v CROSS JOIN LATERAL unnest(v."section_ids") WITH ORDINALITY AS place("id", "n")
        JOIN "sections" s ON s."id" = place."id";

-- Outputs that other runs may take, by what was asked.
CREATE INDEX "run_results_by_request" ON "run_results"("run_id", "request_hash") WHERE "request_hash" IS NOT NULL;

-- The results of each group of errors: few have one.
CREATE INDEX "run_results_by_error" ON "run_results"("run_id", "error_group", "section_order_index", "order_index", "repetition")
    WHERE "error_group" IS NOT NULL;

-- The results in the order of each scorer: a run has at most 16. An index has those that its scorer scored. PostgreSQL
-- counts them in the index alone if that includes the column.
DO $migration$
BEGIN
    FOR number IN 1..16 LOOP
        EXECUTE format('CREATE INDEX run_results_by_scorer_%1$s ON run_results(run_id, (scorer_scores[%1$s]), '
            'section_order_index, order_index, repetition) INCLUDE (scorer_scores) WHERE scorer_scores[%1$s] IS NOT NULL', number);
    END LOOP;
END $migration$;

-- The parts of which many items have no hash blocks yet.
CREATE INDEX "parts_to_hash" ON "parts"("id") WHERE "item_count" - "hashed_items" >= 4096;

-- Archives, most assets and hashes cannot be compressed, and a range of an asset is read without the rest.
ALTER TABLE "job_chunks" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
ALTER TABLE "assets" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
ALTER TABLE "hash_blocks" ALTER COLUMN "entries" SET STORAGE EXTERNAL;

-- PostgreSQL compresses rows above 2 kB. Its own method takes longer than everything else that an import does: 1.7 ms for
-- 50 kB of text. Where the server has LZ4, that is used; elsewhere long texts are stored as they are, and rows of some
-- kilobytes stay whole. (Dump for a server without LZ4: --no-toast-compression.)
DO $migration$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE items
            ALTER COLUMN payload SET COMPRESSION lz4,
            ALTER COLUMN answer SET COMPRESSION lz4,
            ALTER COLUMN checker SET COMPRESSION lz4,
            ALTER COLUMN assets SET COMPRESSION lz4;
    ELSE
        ALTER TABLE items
            ALTER COLUMN payload SET STORAGE EXTERNAL,
            ALTER COLUMN answer SET STORAGE EXTERNAL,
            ALTER COLUMN checker SET STORAGE EXTERNAL,
            ALTER COLUMN assets SET STORAGE EXTERNAL,
            SET (toast_tuple_target = 4064);
    END IF;
END $migration$;

-- A dataset that goes releases its assets; a worker collects those that no other dataset refers to.
CREATE FUNCTION release_assets() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    INSERT INTO released_assets (sha256) SELECT DISTINCT sha256 FROM gone;
    RETURN NULL;
END $function$;

CREATE TRIGGER release_assets AFTER DELETE ON "dataset_assets" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION release_assets();

-- What runs have in shards has no foreign key: a worker removes the rows of those that are gone.
CREATE FUNCTION note_loose_runs() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    INSERT INTO loose_runs (run_id) SELECT id FROM gone;
    RETURN NULL;
END $function$;

CREATE TRIGGER note_loose_runs AFTER DELETE ON "runs" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION note_loose_runs();

CREATE FUNCTION note_loose_comparisons() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    INSERT INTO loose_runs (run_id, other_run_id) SELECT DISTINCT run_id, other_run_id FROM gone;
    RETURN NULL;
END $function$;

CREATE TRIGGER note_loose_comparisons AFTER DELETE ON "run_comparisons" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION note_loose_comparisons();
