// Answers calls, one JSON line each: {"call":NAME,"with":{...}} gives {"ok":RESULT} or {"error":TEXT}.
import readline from 'node:readline';

const say = process.stdout.write.bind(process.stdout);
console.log = console.info = console.debug = (...a) => console.error(...a); // the programs talk on stdout

export async function serve(calls) {
  say('{"ok":"ready"}\n');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { call, with: args } = JSON.parse(line);
    try {
      say(JSON.stringify({ ok: (await calls[call](args)) ?? null }) + '\n');
    } catch (e) {
      say(JSON.stringify({ error: String(e?.stack ?? e) }) + '\n');
    }
  }
  process.exit(0);
}
