-- The files that items embed, each once.

-- CreateTable
CREATE TABLE "assets" (
    "sha256" BYTEA NOT NULL,
    "bytes" BYTEA,
    "byte_length" BIGINT NOT NULL,
    "object_key" TEXT,

    CONSTRAINT "assets_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "dataset_assets" (
    "dataset_id" UUID NOT NULL,
    "sha256" BYTEA NOT NULL,
    "mime_type" TEXT,

    CONSTRAINT "dataset_assets_pkey" PRIMARY KEY ("dataset_id","sha256")
);

-- CreateTable
CREATE TABLE "released_assets" (
    "id" BIGSERIAL NOT NULL,
    "sha256" BYTEA NOT NULL,

    CONSTRAINT "released_assets_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "dataset_assets_sha256" ON "dataset_assets"("sha256");

-- AddForeignKey
ALTER TABLE "dataset_assets" ADD CONSTRAINT "dataset_assets_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dataset_assets" ADD CONSTRAINT "dataset_assets_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "assets"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Checks (Prisma's schema language has none)
ALTER TABLE "assets"
    ADD CONSTRAINT "assets_sha256" CHECK (octet_length("sha256") = 32),
    ADD CONSTRAINT "assets_place" CHECK (("bytes" IS NULL) <> ("object_key" IS NULL)),
    ADD CONSTRAINT "assets_byte_length" CHECK ("bytes" IS NULL OR octet_length("bytes") = "byte_length");

-- Most assets are compressed already, and a range of what is not compressed is read without the rest.
ALTER TABLE "assets" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;

-- A dataset that goes releases its assets, whichever version of the service deletes it; a worker collects those that no
-- other dataset refers to.
CREATE FUNCTION release_assets() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    INSERT INTO released_assets (sha256) SELECT DISTINCT sha256 FROM gone;
    RETURN NULL;
END $function$;

CREATE TRIGGER release_assets AFTER DELETE ON "dataset_assets" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION release_assets();

-- Imports and exports hold the table for long. Waiting for them would make every other statement wait too, so each
-- attempt to get it is short.
DO $migration$
BEGIN
    SET LOCAL lock_timeout = '2s';
    LOOP
        BEGIN
            ALTER TABLE items ADD COLUMN linked_files JSON, ADD COLUMN linked_bytes BIGINT;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;
END $migration$;
