import { expect, it } from "vitest";
import { createOrder } from "../src/read-write-lock.js";

/** Work that says when it began and ends when told. */
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

it("lets what only looks run together, and what changes alone, none overtaking", async () => {
  const log: string[] = [];
  const order = createOrder(8);
  const works = ["a", "b", "W", "c", "d"].map((name) => createWork(name, log));
  const [a, b, exclusive, c, d] = works as [Work, Work, Work, Work, Work];
  const results = Promise.all([
    order.shared(a.run),
    order.shared(b.run),
    order.exclusive(exclusive.run),
    order.shared(c.run),
    order.shared(d.run),
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

it("bounds what runs together, and goes on after a failure", async () => {
  const log: string[] = [];
  const order = createOrder(2);
  const works = ["a", "b", "c"].map((name) => createWork(name, log));
  const running = works.map((work) => order.shared(work.run));
  await turn();
  expect(log).toEqual(["a", "b"]);
  works[1]!.finish();
  await turn();
  expect(log).toEqual(["a", "b", "c"]);
  for (const work of works) work.finish();
  await Promise.all(running);
  await expect(order.exclusive(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await order.exclusive(async () => "on")).toBe("on");
});
