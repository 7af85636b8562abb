-- Every change, by whom, and by which request. Nothing refers to what was changed: rows stay when that is deleted.
CREATE TABLE "audit" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "actor" TEXT NOT NULL,
    "role" TEXT,
    "request_id" TEXT,
    "action" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "object_id" TEXT,
    "name" TEXT,
    "handle" TEXT,
    "version" INTEGER,
    "details" TEXT NOT NULL,

    CONSTRAINT "audit_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "audit_created_at_id" ON "audit"("created_at", "id");
CREATE INDEX "audit_object_id" ON "audit"("object_id");

-- For whom a worker works: the request that began what a run or job does now.
ALTER TABLE "runs" ADD COLUMN "asked" TEXT;
ALTER TABLE "jobs" ADD COLUMN "asked" TEXT;
UPDATE "runs" SET "asked" = json_build_object('name', coalesce("created_by", 'anonymous'), 'request_id', "request_id")::text WHERE "finished_at" IS NULL;
UPDATE "jobs" SET "asked" = json_build_object('name', coalesce("created_by", 'anonymous'), 'request_id', "request_id")::text WHERE "finished_at" IS NULL;

-- Where a label was given, for keys that see some datasets only.
ALTER TABLE "labels" ADD COLUMN "dataset_id" UUID;
