export { collectSections, type SectionCollector } from './collect-sections.ts';
export { mapOrdered } from './map-ordered.ts';
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
export { provenanceOf } from './provenance.ts';
export { type UploadOptions, type UploadPorts, uploadPackage } from './upload-package.ts';
