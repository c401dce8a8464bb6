// mem0's own Memory over its SQLite files. Texts are added as they are, and vectors come from the server that is named.
import { register } from 'node:module';
import { serve } from './serve.mjs';

const sqlite = JSON.stringify(new URL('./sqlite.mjs', import.meta.url).href);
register('data:text/javascript,' + encodeURIComponent(`export const resolve = (name, from, next) =>
  name === 'better-sqlite3' && from.parentURL !== ${sqlite} ? { url: ${sqlite}, shortCircuit: true } : next(name, from);`));
const { Memory } = await import('mem0ai/oss');

const [dir, embedder] = process.argv.slice(2);
const openai = { provider: 'openai', config: { apiKey: 'none', baseURL: embedder, model: 'test', embeddingDims: 8 } };
const memory = new Memory({
  embedder: openai, llm: openai,
  vectorStore: { provider: 'memory', config: { collectionName: 'memories', dimension: 8, dbPath: dir + '/vector_store.db' } },
  historyDbPath: dir + '/memory.db',
});
const plain = m => m && { id: m.id, text: m.memory };
await serve({
  add: async ({ text, user }) => (await memory.add([{ role: 'user', content: text }], { userId: user, infer: false })).results.map(plain),
  get: async ({ id }) => plain(await memory.get(id)),
  all: async ({ user }) => (await memory.getAll({ filters: { user_id: user }, topK: 1000 })).results.map(plain),
  search: async ({ text, user }) => (await memory.search(text, { filters: { user_id: user }, topK: 3 })).results.map(plain),
  update: ({ id, text }) => memory.update(id, text).then(() => null),
  history: async ({ id }) => (await memory.history(id)).map(h => ({ was: h.previous_value, is: h.new_value, action: h.action })),
  remove: ({ id }) => memory.delete(id).then(() => null),
});
