-- Runs that came with a package. An older version does not name the columns, and its runs are not imported.
ALTER TABLE "runs"
    ADD COLUMN "imported" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "origin_id" UUID;
