/** SQL: whether the transaction whose number is in the column `transaction_id` has ended. */
export const HAS_ENDED = `CASE WHEN transaction_id < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    THEN coalesce(pg_xact_status(transaction_id::text::xid8), 'forgotten') <> 'in progress'
    -- a number of the server from which this database was restored
    ELSE true END`;
