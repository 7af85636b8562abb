-- Files for clients of the hub are made once and kept; until now they were made again for each range. They are made anew.
DROP TABLE "hub_files";
DROP TABLE "hub_layouts";

CREATE TABLE "hub_layouts" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "columns" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "hub_layouts_pkey" PRIMARY KEY ("dataset_id","version","format")
);

CREATE TABLE "hub_files" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "section_id" UUID NOT NULL,
    "first_item" INTEGER NOT NULL,
    "item_count" INTEGER NOT NULL,
    "group_items" INTEGER[],
    "group_bytes" INTEGER[],
    "byte_length" BIGINT,
    "tag" BYTEA,
    "source" BYTEA,

    CONSTRAINT "hub_files_pkey" PRIMARY KEY ("dataset_id","version","format","path")
);

CREATE TABLE "hub_contents" (
    "sha256" BYTEA NOT NULL,
    "byte_length" BIGINT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "hub_contents_pkey" PRIMARY KEY ("sha256")
);

CREATE TABLE "hub_profiles" (
    "part_id" UUID NOT NULL,
    "first" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "profile" TEXT NOT NULL,

    CONSTRAINT "hub_profiles_pkey" PRIMARY KEY ("part_id","first","format")
);

CREATE INDEX "hub_files_tag" ON "hub_files"("tag");
CREATE INDEX "hub_files_source" ON "hub_files"("source");

ALTER TABLE "hub_layouts" ADD CONSTRAINT "hub_layouts_dataset_id_version_fkey" FOREIGN KEY ("dataset_id", "version") REFERENCES "versions"("dataset_id", "version") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "hub_files" ADD CONSTRAINT "hub_files_dataset_id_version_format_fkey" FOREIGN KEY ("dataset_id", "version", "format") REFERENCES "hub_layouts"("dataset_id", "version", "format") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "hub_contents" ADD CONSTRAINT "hub_contents_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "assets"("sha256") ON DELETE RESTRICT ON UPDATE NO ACTION;
ALTER TABLE "hub_profiles" ADD CONSTRAINT "hub_profiles_part_id_fkey" FOREIGN KEY ("part_id") REFERENCES "parts"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- The collector of assets removes those that nothing refers to any more.
CREATE TRIGGER release_assets AFTER DELETE ON "hub_contents" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION release_assets();

-- Tells the processes that make files for clients of the hub.
CREATE FUNCTION notify_version() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_notify('svc_version', NEW.dataset_id || ' ' || NEW.version);
    RETURN NULL;
END $function$;

CREATE TRIGGER notify_version AFTER INSERT ON "versions" FOR EACH ROW EXECUTE FUNCTION notify_version();
