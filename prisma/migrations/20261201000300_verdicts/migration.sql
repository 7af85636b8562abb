-- Results that have failed their checks. Until now, all scored results that had not passed counted as such.
ALTER TABLE "runs" ADD COLUMN "wrong" INTEGER NOT NULL DEFAULT 0;
UPDATE "runs" SET "wrong" = "scored" - "passed" WHERE "scored" > "passed";
-- An item may have neither passed nor failed.
ALTER TABLE "run_differences" ALTER COLUMN "passed" DROP NOT NULL, ALTER COLUMN "other_passed" DROP NOT NULL;
