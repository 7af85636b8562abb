-- Lists show the newest first: microseconds tell apart what is created within one millisecond. Neither rows nor indexes are
-- rewritten.
--
-- Exports hold the tables for long. Waiting for them would make every other statement wait too, so each attempt to get them
-- is short.
DO $migration$
BEGIN
    SET LOCAL lock_timeout = '2s';
    LOOP
        BEGIN
            ALTER TABLE "datasets" ALTER COLUMN "created_at" SET DATA TYPE TIMESTAMPTZ(6),
                ALTER COLUMN "updated_at" SET DATA TYPE TIMESTAMPTZ(6);
            ALTER TABLE "runs" ALTER COLUMN "created_at" SET DATA TYPE TIMESTAMPTZ(6);
            ALTER TABLE "jobs" ALTER COLUMN "created_at" SET DATA TYPE TIMESTAMPTZ(6);
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;
END $migration$;
