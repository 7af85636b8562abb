-- A worker of an older version does not read assets: it would ask a model about images that it does not send. So a run of
-- a dataset that refers to assets needs a worker of this version, whichever version creates the run.
CREATE FUNCTION check_assets_of_run() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    IF EXISTS (SELECT FROM dataset_assets WHERE dataset_id = NEW.dataset_id) THEN
        NEW.worker_level := greatest(NEW.worker_level, 1);
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER check_assets_of_run BEFORE INSERT ON runs FOR EACH ROW
    WHEN (NEW.finished_at IS NULL)
    EXECUTE FUNCTION check_assets_of_run();
