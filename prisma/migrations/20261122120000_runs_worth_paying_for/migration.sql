-- What a run promises before it starts, what it selects, costs and does again; what is known of each result.
-- An older version names none of these columns. Its results lack them, and the totals of a run are made from its results.
ALTER TABLE "runs"
    ADD COLUMN "plan" TEXT,
    ADD COLUMN "warnings" TEXT,
    ADD COLUMN "has_selection" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "source_run_id" UUID,
    ADD COLUMN "retries" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "retry_only" TEXT,
    ADD COLUMN "truncated" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "input_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "output_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "judge_input_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "judge_output_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "results_version" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "summary" TEXT,
    ADD COLUMN "summary_of" TEXT,
    ADD COLUMN "summary_at" TIMESTAMPTZ(3),
    ADD COLUMN "summary_ms" INTEGER,
    ADD COLUMN "worker_level" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "claim_level" INTEGER,
    ADD CONSTRAINT "runs_plan_is_json" CHECK ("plan" IS NULL OR "plan"::json IS NOT NULL),
    ADD CONSTRAINT "runs_warnings_is_json" CHECK ("warnings" IS NULL OR "warnings"::json IS NOT NULL),
    ADD CONSTRAINT "runs_summary_is_json" CHECK ("summary" IS NULL OR "summary"::json IS NOT NULL),
    ADD CONSTRAINT "runs_retry_only" CHECK ("retry_only" IN ('failed', 'unscored', 'truncated'));

ALTER TABLE "run_results"
    ADD COLUMN "item_hash" BYTEA,
    ADD COLUMN "item_type" TEXT,
    ADD COLUMN "tags" TEXT[],
    ADD COLUMN "finish_reason" TEXT,
    ADD COLUMN "truncated" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "attempts" INTEGER,
    ADD COLUMN "judge_usage" TEXT,
    ADD COLUMN "omitted_assets" TEXT,
    ADD COLUMN "input_tokens" INTEGER,
    ADD COLUMN "output_tokens" INTEGER,
    ADD COLUMN "judge_input_tokens" INTEGER,
    ADD COLUMN "judge_output_tokens" INTEGER,
    ADD COLUMN "retries" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "run_items" (
    "run_id" UUID NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,

    CONSTRAINT "run_items_pkey" PRIMARY KEY ("run_id","section_order_index","order_index")
);

-- CreateTable
CREATE TABLE "run_comparisons" (
    "run_id" UUID NOT NULL,
    "other_run_id" UUID NOT NULL,
    "comparison_of" TEXT NOT NULL,
    "summary" TEXT NOT NULL,

    CONSTRAINT "run_comparisons_pkey" PRIMARY KEY ("run_id","other_run_id")
);

-- CreateTable
CREATE TABLE "run_differences" (
    "run_id" UUID NOT NULL,
    "other_run_id" UUID NOT NULL,
    "section_order_index" INTEGER NOT NULL,
    "order_index" INTEGER NOT NULL,
    "other_section_order_index" INTEGER NOT NULL,
    "other_order_index" INTEGER NOT NULL,
    "score" DOUBLE PRECISION NOT NULL,
    "other_score" DOUBLE PRECISION NOT NULL,
    "passed" BOOLEAN NOT NULL,
    "other_passed" BOOLEAN NOT NULL,

    CONSTRAINT "run_differences_pkey" PRIMARY KEY ("run_id","other_run_id","section_order_index","order_index")
);

-- CreateIndex
CREATE INDEX "runs_of_source" ON "runs"("source_run_id");

-- CreateIndex
CREATE INDEX "run_comparisons_of_other" ON "run_comparisons"("other_run_id");

-- AddForeignKey
ALTER TABLE "run_items" ADD CONSTRAINT "run_items_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_comparisons" ADD CONSTRAINT "run_comparisons_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_comparisons" ADD CONSTRAINT "run_comparisons_other_run_id_fkey" FOREIGN KEY ("other_run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_differences" ADD CONSTRAINT "run_differences_run_id_other_run_id_fkey" FOREIGN KEY ("run_id", "other_run_id") REFERENCES "run_comparisons"("run_id", "other_run_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A worker of an older version would run every item of a run that selects some, and would not do results again. A worker
-- states its level with each claim; the claim of a run that needs a higher one has no effect.
CREATE FUNCTION check_worker_level() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    IF coalesce(NEW.claim_level, 0) < OLD.worker_level THEN
        RETURN NULL;
    END IF;
    NEW.claim_level := NULL;
    RETURN NEW;
END $function$;

CREATE TRIGGER check_worker_level BEFORE UPDATE OF attempt ON runs FOR EACH ROW
    WHEN (NEW.attempt > OLD.attempt AND (OLD.worker_level > 0 OR NEW.claim_level IS NOT NULL))
    EXECUTE FUNCTION check_worker_level();
