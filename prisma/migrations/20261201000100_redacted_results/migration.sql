-- AlterTable
ALTER TABLE "run_results" ADD COLUMN "redacted" INTEGER NOT NULL DEFAULT 0;
