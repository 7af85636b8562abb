-- The value of "results_version" with which a run is done; null for runs of older versions.
ALTER TABLE "runs" ADD COLUMN "results_due" BIGINT;
