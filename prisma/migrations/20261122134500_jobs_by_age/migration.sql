-- lists of jobs, newest first
CREATE INDEX "jobs_by_age" ON "jobs"("created_at", "id");
