-- Datasets of uploaded files with tables or items. An older version lists and exports them, and makes none.
ALTER TABLE "datasets"
    DROP CONSTRAINT "datasets_source",
    ADD CONSTRAINT "datasets_source" CHECK ("source" IN ('hub', 'pkg_zip', 'file'));
