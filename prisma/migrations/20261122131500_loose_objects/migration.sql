-- Objects of the asset store to which perhaps no row of assets refers.

-- CreateTable
CREATE TABLE "loose_objects" (
    "object_key" TEXT NOT NULL,
    "transaction_id" BIGINT NOT NULL,

    CONSTRAINT "loose_objects_pkey" PRIMARY KEY ("object_key")
);
