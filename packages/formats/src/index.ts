/** `@svc/formats`: datasets and results of other tools as packages, and back. */
export { type ConvertToolOptions, convertTool, type ToolReport } from './convert-tool.ts';
export type { Lost } from './lost.ts';
export { recogniseTool } from './recognise-tool.ts';
export { TOOLS, type Tool, type ToolFile, WRITTEN_TOOLS, type WrittenTool } from './tool.ts';
export { LOST_ITEMS } from './tools/openai-batch.ts';
export type { SourceItem, SourceRun, ToolSource } from './write/tool-source.ts';
export {
  needsModel,
  type ToolExport,
  type WriteToolOptions,
  writesDatasets,
  writesRuns,
  writeTool,
} from './write-tool.ts';
