/** The parts of the SDK of the Model Context Protocol for `mcp`. The build puts them here (`vite.config.ts`). */
export { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
export {
  boolean,
  enum as oneOf,
  type infer as Infer,
  int,
  record,
  strictObject,
  string,
  union,
  unknown,
} from 'zod';
