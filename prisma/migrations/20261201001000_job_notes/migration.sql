-- What the response to an import says besides the dataset, for imports that are jobs.
ALTER TABLE "jobs" ADD COLUMN "notes" TEXT;
