/** `@svc/formats`: datasets and results of other tools as packages, and back. */
export { type ConvertToolOptions, convertTool, type ToolReport } from './convert-tool.ts';
export type { Lost } from './lost.ts';
export { recogniseTool } from './recognise-tool.ts';
export { TOOLS, type Tool, type ToolFile } from './tool.ts';
