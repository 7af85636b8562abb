-- Where the items of versions come from, for each version that took some from elsewhere: null in older versions, whose items
-- come from where the dataset does.
ALTER TABLE "versions" ADD COLUMN "sources" int4multirange;

CREATE TABLE "provenance" (
    "dataset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "source" TEXT,
    "schema" TEXT,
    "files" TEXT NOT NULL,

    CONSTRAINT "provenance_pkey" PRIMARY KEY ("dataset_id","version")
);

ALTER TABLE "provenance" ADD CONSTRAINT "provenance_dataset_id_fkey" FOREIGN KEY ("dataset_id") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
