export type {
  DatasetSource,
  DatasetSummary,
  DatasetWriter,
  EncodedRows,
  ImportOutcome,
  NeedsFiles,
  OutcomeSection,
  RowEncoder,
  SectionSummary,
  SectionTarget,
} from './ports.ts';
