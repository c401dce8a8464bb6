// The official client at memdesk's door, and the memory tool of Anthropic's SDK beside it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import { serve } from './serve.mjs';

const [url, token, base] = process.argv.slice(2);
const client = new Client({ name: 'official', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: 'Bearer ' + token } } }));
const tool = await BetaLocalFilesystemMemoryTool.init(base);

await serve({
  tools: async () => (await client.listTools()).tools.map(t => t.name),
  // The client checks structuredContent against the tool's output schema.
  call: async ({ name, args }) => {
    const r = await client.callTool({ name, arguments: args });
    return { text: (r.content ?? []).map(c => c.text).join('\n'), error: !!r.isError, facts: r.structuredContent ?? null };
  },
  real: async args => {
    try {
      return { text: await tool[args.command](args), error: false };
    } catch (e) {
      return { text: e.message, error: true };
    }
  },
});
