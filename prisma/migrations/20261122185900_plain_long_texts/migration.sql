-- PostgreSQL compresses rows above 2 kB. Its own method takes longer than everything else that an import does: 1.7 ms for
-- 50 kB of text. Where the server has LZ4, that is used; elsewhere long texts are stored as they are, and rows of some
-- kilobytes stay whole. What is stored already does not change. (Dump for a server without LZ4: --no-toast-compression.)
--
-- Imports and exports hold the table for long. Waiting for them would make every other statement wait too, so each
-- attempt to get it is short.
DO $migration$
DECLARE
    has_lz4 boolean := EXISTS (
        SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
    );
BEGIN
    SET LOCAL lock_timeout = '2s';
    LOOP
        BEGIN
            IF has_lz4 THEN
                ALTER TABLE items
                    ALTER COLUMN payload SET COMPRESSION lz4,
                    ALTER COLUMN answer SET COMPRESSION lz4,
                    ALTER COLUMN checker SET COMPRESSION lz4,
                    ALTER COLUMN assets SET COMPRESSION lz4;
            ELSE
                ALTER TABLE items
                    ALTER COLUMN payload SET STORAGE EXTERNAL,
                    ALTER COLUMN answer SET STORAGE EXTERNAL,
                    ALTER COLUMN checker SET STORAGE EXTERNAL,
                    ALTER COLUMN assets SET STORAGE EXTERNAL,
                    SET (toast_tuple_target = 4064);
            END IF;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;
END $migration$;
