-- Writes all data of a database as one SQL script that fills an empty database of the same version of the service, whatever
-- the PostgreSQL versions of the two (15 or newer):
--
--   psql -XqAt -f deploy/dump-data.sql "$FROM" > data.sql
--   svc-admin migrate --database-url "$TO"
--   psql -Xq -f data.sql "$TO"
--
-- If the target's PostgreSQL is not older than the source's, pg_dump and pg_restore of that version work too. The dump is
-- refused while runs or jobs are unfinished, because it does not contain archives of uploads.
\set ON_ERROR_STOP on
\encoding UTF8

BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

DO $$
BEGIN
  IF EXISTS (SELECT FROM runs WHERE finished_at IS NULL) OR EXISTS (SELECT FROM jobs WHERE finished_at IS NULL) THEN
    RAISE EXCEPTION 'some runs or jobs have not ended: wait for them, or cancel them';
  END IF;
END $$;

\echo '\\set ON_ERROR_STOP on'
\echo '\\encoding UTF8'
\echo 'BEGIN;'

SELECT format(
  'DO $$ BEGIN IF (SELECT string_agg(migration_name, '','' ORDER BY migration_name) FROM _prisma_migrations) <> %L '
  'THEN RAISE EXCEPTION ''this database is at another version of the service''; END IF; END $$;',
  string_agg(migration_name, ',' ORDER BY migration_name))
FROM _prisma_migrations;

\echo 'COPY datasets FROM STDIN;'
COPY datasets TO STDOUT;
\echo '\\.'
\echo 'COPY versions FROM STDIN;'
COPY versions TO STDOUT;
\echo '\\.'
\echo 'COPY sections FROM STDIN;'
COPY sections TO STDOUT;
\echo '\\.'
\echo 'COPY parts FROM STDIN;'
COPY parts TO STDOUT;
\echo '\\.'
\echo 'COPY items FROM STDIN;'
COPY items TO STDOUT;
\echo '\\.'
\echo 'COPY hash_blocks FROM STDIN;'
COPY hash_blocks TO STDOUT;
\echo '\\.'
\echo 'COPY loose_parts (part_id) FROM STDIN;'
COPY loose_parts (part_id) TO STDOUT;
\echo '\\.'
\echo 'COPY assets FROM STDIN;'
COPY assets TO STDOUT;
\echo '\\.'
\echo 'COPY dataset_assets FROM STDIN;'
COPY dataset_assets TO STDOUT;
\echo '\\.'
\echo 'COPY released_assets (sha256) FROM STDIN;'
COPY released_assets (sha256) TO STDOUT;
\echo '\\.'
\echo 'COPY runs FROM STDIN;'
COPY runs TO STDOUT;
\echo '\\.'
\echo 'COPY run_items FROM STDIN;'
COPY run_items TO STDOUT;
\echo '\\.'
\echo 'COPY run_results FROM STDIN;'
COPY run_results TO STDOUT;
\echo '\\.'
\echo 'COPY loose_runs (run_id, other_run_id) FROM STDIN;'
COPY loose_runs (run_id, other_run_id) TO STDOUT;
\echo '\\.'
\echo 'COPY labels FROM STDIN;'
COPY labels TO STDOUT;
\echo '\\.'
\echo 'COPY jobs FROM STDIN;'
COPY jobs TO STDOUT;
\echo '\\.'
\echo 'COPY settings FROM STDIN;'
COPY settings TO STDOUT;
\echo '\\.'
\echo 'COMMIT;'

COMMIT;
