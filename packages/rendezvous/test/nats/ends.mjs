// Executors or harnesses in a process of their own: argv[2] is a JSON `EndsOptions` of nodes.ts. Prints one JSON line when all are
// ready, and one more with what has happened after a line on stdin.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createIdentity, loadMlKem, openNoiseChannel, serveExecutorRelay } from "@codex/relay";

const { role, url, from, to, executors, intervalMs, exchangesAfter } = JSON.parse(process.argv[2]);
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const asked = once(createInterface({ input: process.stdin }), "line");
const numbers = Array.from({ length: to - from }, (_, n) => from + n);
const registryOf = (n) => ({
  url,
  environmentId: `env-${n}`,
  authorize: () => ({ authorization: "Bearer any" }),
});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Serves executors that send back what they receive. */
async function runExecutors() {
  const mlKem = await loadMlKem();
  const relays = await Promise.all(
    numbers.map((n) =>
      serveExecutorRelay({
        registry: registryOf(n),
        identity: createIdentity(mlKem),
        onStream: async (channel) => {
          for (let item = await channel.receive(); item?.kind === "value"; item = await channel.receive()) {
            await channel.send(item.value);
          }
        },
      }),
    ),
  );
  const allConnected = async () => {
    while (relays.some(({ isConnected }) => !isConnected)) await pause(5);
  };
  await allConnected();
  print({ ready: relays.length });
  await asked;
  await allConnected();
  print({ connected: relays.length });
}

/** Each harness sends the next number when the last one is back, so that every loss and every repetition is noticed. */
async function runHarnesses() {
  const mlKem = await loadMlKem();
  const back = [];
  let isLast = false;
  let ready = 0;
  let noteReady = () => {};
  const wakes = new Set();
  const drive = async (n) => {
    let isLost = false;
    let wake = () => {};
    const channel = await openNoiseChannel({
      registry: registryOf(n % executors),
      identity: createIdentity(mlKem),
      log: {
        warn: () => {
          isLost = true;
          wake();
        },
      },
    });
    for (let count = 0, after = 0; after < exchangesAfter; count += 1) {
      // Begun after the end was asked for.
      if (isLast) after += 1;
      await channel.send({ n, count });
      const item = await channel.receive();
      if (item?.kind !== "value")
        throw new Error(`harness ${n} ended after ${count} messages: ${JSON.stringify(item)}`);
      if (item.value.n !== n || item.value.count !== count) {
        throw new Error(`harness ${n} got ${JSON.stringify(item.value)} as its answer ${count}`);
      }
      if (isLost) back.push(Date.now());
      isLost = false;
      // Before its first answer a stream cannot go on elsewhere: the other end may be Codex.
      if (count === 0) {
        ready += 1;
        noteReady();
      }
      if (after === exchangesAfter || (isLast && after === 0)) continue;
      // One that is cut off does not wait for its next turn: what is measured is the stream.
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, intervalMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        wakes.add(wake);
      });
      wakes.delete(wake);
    }
  };
  const driven = [];
  for (const n of numbers) {
    driven.push(drive(n));
    while (driven.length - ready >= 8) {
      await Promise.race([
        new Promise((resolve) => {
          noteReady = resolve;
        }),
        ...driven,
      ]);
    }
  }
  while (ready < driven.length) {
    await Promise.race([
      new Promise((resolve) => {
        noteReady = resolve;
      }),
      ...driven,
    ]);
  }
  print({ ready });
  await Promise.race([asked, ...driven]);
  isLast = true;
  if (exchangesAfter === 1) for (const wake of wakes) wake();
  await Promise.all(driven);
  print({ back });
}

await (role === "executors" ? runExecutors() : runHarnesses());
process.exit(0);
