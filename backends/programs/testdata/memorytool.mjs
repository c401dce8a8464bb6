// The memory tool of Anthropic's SDK over a directory.
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import { serve } from './serve.mjs';

const tool = await BetaLocalFilesystemMemoryTool.init(process.argv[2]);
const run = args => tool[args.command](args);
await serve({ run });
