-- The hash of a run, its bar and the verdict on it. Runs of older versions get their hash when they are read.
ALTER TABLE "runs" ADD COLUMN "scoring" TEXT, ADD COLUMN "bar" TEXT, ADD COLUMN "bar_hash" CHAR(64),
  ADD COLUMN "run_hash" CHAR(64), ADD COLUMN "verdict" TEXT, ADD COLUMN "proof_of" TEXT;
