-- The rows of runs and jobs are the queue: a worker holds a task by a lease on its row.
ALTER TABLE "runs"
    ADD COLUMN "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "lease_expires_at" TIMESTAMPTZ(3),
    ADD COLUMN "worker" UUID;

ALTER TABLE "jobs"
    ADD COLUMN "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "lease_expires_at" TIMESTAMPTZ(3),
    ADD COLUMN "worker" UUID;

-- CreateIndex
CREATE INDEX "runs_to_do" ON "runs"("finished_at", "available_at");

-- CreateIndex
CREATE INDEX "jobs_to_do" ON "jobs"("finished_at", "available_at");

-- The version before this one has its queue in the schema pgboss. While both versions work on one database, triggers keep
-- a task of that queue and the lease of its row in step, so that each version sees what the other one holds. A later
-- migration drops them with the schema. See docs/decisions/leases-on-rows.md.
DO $migration$
BEGIN
    IF to_regclass('pgboss.job') IS NULL THEN
        RETURN;
    END IF;
    LOCK TABLE runs, jobs, pgboss.job IN SHARE ROW EXCLUSIVE MODE;

    -- What the older version does to a task → the lease of its row
    CREATE FUNCTION lease_from_pgboss() RETURNS trigger LANGUAGE plpgsql AS $function$
    DECLARE
        expires timestamptz := CASE WHEN NEW.state = 'active'
            THEN coalesce(NEW.heartbeat_on, now()) + coalesce(NEW.heartbeat_seconds, 12) * interval '1 second' END;
        -- pg-boss counts an attempt when the next one begins
        failures integer := NEW.retry_count + CASE WHEN NEW.state IN ('retry', 'failed') THEN 1 ELSE 0 END;
        due timestamptz := CASE WHEN NEW.state IN ('created', 'retry') THEN NEW.start_after ELSE now() END;
    BEGIN
        IF NEW.name = 'run' THEN
            UPDATE runs SET lease_expires_at = expires, worker = NULL, failed_attempts = failures, available_at = due
            WHERE id = NEW.id AND finished_at IS NULL;
        ELSE
            UPDATE jobs SET lease_expires_at = expires, worker = NULL, failed_attempts = failures, available_at = due
            WHERE id = NEW.id AND finished_at IS NULL;
        END IF;
        RETURN NULL;
    END $function$;

    CREATE TRIGGER lease_from_pgboss AFTER INSERT OR UPDATE ON pgboss.job FOR EACH ROW
        WHEN (pg_trigger_depth() = 0 AND NEW.name IN ('run', 'import', 'upload') AND NEW.state NOT IN ('completed', 'cancelled'))
        EXECUTE FUNCTION lease_from_pgboss();

    -- A new row → a task that the older version finds
    CREATE FUNCTION task_to_pgboss() RETURNS trigger LANGUAGE plpgsql AS $function$
    DECLARE
        kind text := 'run';
    BEGIN
        IF TG_TABLE_NAME = 'jobs' THEN
            kind := NEW.kind;
        END IF;
        INSERT INTO pgboss.job (id, name, data, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds,
            deletion_seconds, keep_until, policy, heartbeat_seconds)
        SELECT NEW.id, kind, jsonb_build_object('id', NEW.id, 'request_id', NEW.request_id), retry_limit, retry_delay,
            retry_backoff, retry_delay_max, expire_seconds, deletion_seconds, now() + retention_seconds * interval '1 second',
            policy, heartbeat_seconds
        FROM pgboss.queue WHERE name = kind
        ON CONFLICT DO NOTHING;
        RETURN NULL;
    END $function$;

    CREATE TRIGGER task_to_pgboss AFTER INSERT ON runs FOR EACH ROW WHEN (NEW.finished_at IS NULL)
        EXECUTE FUNCTION task_to_pgboss();
    CREATE TRIGGER task_to_pgboss AFTER INSERT ON jobs FOR EACH ROW WHEN (NEW.finished_at IS NULL)
        EXECUTE FUNCTION task_to_pgboss();

    -- What this version does to a lease → the task, as a worker of the older version would do it
    CREATE FUNCTION lease_to_pgboss() RETURNS trigger LANGUAGE plpgsql AS $function$
    DECLARE
        kind text := 'run';
    BEGIN
        IF TG_TABLE_NAME = 'jobs' THEN
            kind := NEW.kind;
        END IF;
        PERFORM FROM pgboss.job WHERE name = kind AND id = NEW.id FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            -- A worker of the older version is taking the task: it is not due.
            IF NEW.attempt <> OLD.attempt AND EXISTS (SELECT FROM pgboss.job WHERE name = kind AND id = NEW.id) THEN
                RETURN NULL;
            END IF;
        ELSIF NEW.finished_at IS NOT NULL THEN
            UPDATE pgboss.job SET state = 'completed', completed_on = now()
            WHERE name = kind AND id = NEW.id AND NEW.worker IS NOT NULL AND state IN ('created', 'retry', 'active');
        ELSIF NEW.lease_expires_at IS NULL THEN
            UPDATE pgboss.job SET state = 'created', started_on = NULL, heartbeat_on = NULL, completed_on = NULL,
                retry_count = NEW.failed_attempts, start_after = NEW.available_at
            WHERE name = kind AND id = NEW.id;
        ELSE
            UPDATE pgboss.job SET state = 'active', started_on = coalesce(started_on, now()), heartbeat_on = now(),
                completed_on = NULL, retry_count = NEW.failed_attempts
            WHERE name = kind AND id = NEW.id;
        END IF;
        RETURN NEW;
    END $function$;

    CREATE TRIGGER lease_to_pgboss BEFORE UPDATE OF lease_expires_at, finished_at ON runs FOR EACH ROW
        WHEN (pg_trigger_depth() = 0 AND (NEW.lease_expires_at IS DISTINCT FROM OLD.lease_expires_at
            OR NEW.finished_at IS DISTINCT FROM OLD.finished_at))
        EXECUTE FUNCTION lease_to_pgboss();
    CREATE TRIGGER lease_to_pgboss BEFORE UPDATE OF lease_expires_at, finished_at ON jobs FOR EACH ROW
        WHEN (pg_trigger_depth() = 0 AND (NEW.lease_expires_at IS DISTINCT FROM OLD.lease_expires_at
            OR NEW.finished_at IS DISTINCT FROM OLD.finished_at))
        EXECUTE FUNCTION lease_to_pgboss();

    -- What the older version holds and waits with now
    UPDATE pgboss.job SET state = state WHERE name IN ('run', 'import', 'upload') AND state IN ('created', 'retry', 'active', 'failed');
END $migration$;
