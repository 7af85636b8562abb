/** What `mcp` uses of the SDK of the Model Context Protocol. The build puts it into this file (`vite.config.ts`). */
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
