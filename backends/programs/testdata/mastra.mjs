// Mastra's memory in a libSQL file.
import { LibSQLStore } from '@mastra/libsql';
import { serve } from './serve.mjs';

const storage = new LibSQLStore({ id: 'test', url: 'file:' + process.argv[2] });
await storage.init();
const memory = (await storage.getStore?.('memory')) ?? storage.stores.memory;
await serve({
  thread: ({ id, resource, title }) => memory.saveThread({ thread: { id, resourceId: resource, title, metadata: { from: 'program' }, createdAt: new Date(), updatedAt: new Date() } }).then(() => null),
  message: ({ id, thread, resource, text }) => memory.saveMessages({ messages: [{ id, threadId: thread, resourceId: resource, role: 'user', type: 'v2', createdAt: new Date(), content: { format: 2, parts: [{ type: 'text', text }], content: text } }] }).then(() => null),
  messages: async ({ thread }) => (await memory.listMessages({ threadId: thread, perPage: false })).messages.map(m => ({ id: m.id, text: m.content.parts.map(p => p.text).join('\n') })),
  threads: async ({ resource }) => (await memory.listThreads({ filter: { resourceId: resource }, perPage: false })).threads.map(t => ({ id: t.id, title: t.title })),
  remember: ({ resource, text }) => memory.updateResource({ resourceId: resource, workingMemory: text }).then(() => null),
  remembered: async ({ resource }) => (await memory.getResourceById({ resourceId: resource }))?.workingMemory ?? null,
  forget: ({ thread }) => memory.deleteThread({ threadId: thread }).then(() => null),
});
