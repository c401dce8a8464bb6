// LangGraph's store and checkpoints in PostgreSQL.
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { HumanMessage } from '@langchain/core/messages';
import pg from 'pg';
import { serve } from './serve.mjs';

const connection = JSON.parse(process.argv[2]);
const store = new PostgresStore({ connectionOptions: connection });
const saver = new PostgresSaver(new pg.Pool(connection));
await store.setup();
await saver.setup();
const plain = item => item && { namespace: item.namespace, key: item.key, value: item.value };
await serve({
  put: ({ namespace, key, value }) => store.put(namespace, key, value),
  get: async ({ namespace, key }) => plain(await store.get(namespace, key)),
  search: async ({ namespace }) => (await store.search(namespace, { limit: 1000 })).map(plain),
  remove: ({ namespace, key }) => store.delete(namespace, key),
  checkpoint: async ({ thread, id, text, user }) => {
    const config = { configurable: { thread_id: thread, checkpoint_ns: '' } };
    const checkpoint = { v: 4, id, ts: new Date().toISOString(), channel_values: { messages: [new HumanMessage(text)] }, channel_versions: { messages: id }, versions_seen: {} };
    await saver.put(config, checkpoint, { source: 'loop', step: 1, parents: {}, user_id: user }, { messages: id });
  },
  latest: async ({ thread }) => {
    const got = await saver.getTuple({ configurable: { thread_id: thread, checkpoint_ns: '' } });
    return got ? got.checkpoint.channel_values.messages.map(m => m.content) : null;
  },
  forget: ({ thread }) => saver.deleteThread(thread),
});
