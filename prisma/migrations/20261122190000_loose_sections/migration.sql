-- Sections whose items were committed apart from the row that makes them visible.

-- CreateTable
CREATE TABLE "loose_sections" (
    "section_id" UUID NOT NULL,
    "transaction_id" BIGINT NOT NULL,

    CONSTRAINT "loose_sections_pkey" PRIMARY KEY ("section_id")
);
