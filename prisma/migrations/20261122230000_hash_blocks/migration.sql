-- Where items with a hash are, in blocks that workers make after an import. What is stored so far has none until then, nor
-- has what an older version imports: such items are found by reading all of their section.
--
-- Exports hold the table of sections for long. Waiting for them would make every other statement wait too, so each attempt
-- to get it is short.
DO $migration$
BEGIN
    SET LOCAL lock_timeout = '2s';
    LOOP
        BEGIN
            ALTER TABLE "sections" ADD COLUMN "hashed_items" INTEGER NOT NULL DEFAULT 0;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;
END $migration$;

-- CreateTable
CREATE TABLE "hash_blocks" (
    "section_id" UUID NOT NULL,
    "bucket" INTEGER NOT NULL,
    "run" INTEGER NOT NULL,
    "entries" INTEGER[],

    CONSTRAINT "hash_blocks_pkey" PRIMARY KEY ("section_id", "bucket", "run")
);

-- Entries are random and cannot be compressed.
ALTER TABLE "hash_blocks" ALTER COLUMN "entries" SET STORAGE EXTERNAL;

-- AddForeignKey
ALTER TABLE "hash_blocks" ADD CONSTRAINT "hash_blocks_section_id_fkey" FOREIGN KEY ("section_id") REFERENCES "sections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The large sections whose items have no blocks yet.
CREATE INDEX "sections_to_hash" ON "sections"("id") WHERE "item_count" >= 4096 AND "hashed_items" < "item_count";
