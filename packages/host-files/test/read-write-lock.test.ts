import { expect, it } from "vitest";
import { createReadWriteLock } from "../src/read-write-lock.js";

/** Work that logs its start and ends when `finish` is called. */
function createWork(name: string, log: string[]) {
  let finish: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const run = async () => {
    log.push(name);
    await ended;
    return name;
  };
  return { run, finish: () => finish?.() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("runs readers concurrently and writers alone, in FIFO order", async () => {
  const log: string[] = [];
  const lock = createReadWriteLock(8);
  const works = ["a", "b", "W", "c", "d"].map((name) => createWork(name, log));
  const [a, b, exclusive, c, d] = works as [Work, Work, Work, Work, Work];
  const results = Promise.all([
    lock.shared(a.run),
    lock.shared(b.run),
    lock.exclusive(exclusive.run),
    lock.shared(c.run),
    lock.shared(d.run),
  ]);
  await turn();
  expect(log).toEqual(["a", "b"]);
  b.finish();
  await turn();
  expect(log).toEqual(["a", "b"]);
  a.finish();
  await turn();
  expect(log).toEqual(["a", "b", "W"]);
  exclusive.finish();
  await turn();
  expect(log).toEqual(["a", "b", "W", "c", "d"]);
  c.finish();
  d.finish();
  expect(await results).toEqual(["a", "b", "W", "c", "d"]);
});

type Work = ReturnType<typeof createWork>;

it("bounds concurrent readers, and continues after a failure", async () => {
  const log: string[] = [];
  const lock = createReadWriteLock(2);
  const works = ["a", "b", "c"].map((name) => createWork(name, log));
  const running = works.map((work) => lock.shared(work.run));
  await turn();
  expect(log).toEqual(["a", "b"]);
  works[1]!.finish();
  await turn();
  expect(log).toEqual(["a", "b", "c"]);
  for (const work of works) work.finish();
  await Promise.all(running);
  await expect(lock.exclusive(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await lock.exclusive(async () => "on")).toBe("on");
});
