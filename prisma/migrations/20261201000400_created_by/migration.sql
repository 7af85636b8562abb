-- Who started a run, and a queued change.
ALTER TABLE "runs" ADD COLUMN "created_by" TEXT;
ALTER TABLE "jobs" ADD COLUMN "created_by" TEXT;
-- Until now, standard errors weighed items alike, and their means weighed results: scores are computed anew.
UPDATE "runs" SET "summary" = NULL WHERE "summary" IS NOT NULL AND ("repetitions" > 1 OR "imported");
