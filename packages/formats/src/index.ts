/** `@svc/formats`: datasets and results of other tools as packages, and back. */
export { type ConvertToolOptions, convertTool, TOOLS, type ToolReport } from './convert-tool.ts';
export type { Lost } from './lost.ts';
export { recogniseTool } from './recognise-tool.ts';
export type { Tool, ToolFile, WrittenTool } from './tool.ts';
export { LOST_ITEMS } from './tools/openai-batch.ts';
export { inspectChoices } from './write/item-texts.ts';
export type { SourceItem, SourceRun, ToolSource } from './write/tool-source.ts';
export {
  needsModel,
  type ToolExport,
  WRITTEN_TOOLS,
  type WriteToolOptions,
  writesDatasets,
  writesRuns,
  writeTool,
} from './write-tool.ts';
