-- Reasoning that a provider sent with an output: never scored, null in older results.
ALTER TABLE "run_results" ADD COLUMN "reasoning" TEXT;
