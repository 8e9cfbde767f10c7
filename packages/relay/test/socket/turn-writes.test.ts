import { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { TurnWrites } from "../../src/socket/turn-writes.js";

it("writes the first message of a turn at once, and the later ones together", async () => {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(chunk.toString());
      done();
    },
    writev: (chunks, done) => {
      written.push(chunks.map(({ chunk }) => chunk.toString()).join());
      done();
    },
  });
  const writes = new TurnWrites(stream);
  const send = (message: string, bytes = message.length) => {
    writes.begin(bytes);
    stream.write(message);
  };
  for (const message of ["a", "b", "c"]) send(message);
  expect(written).toEqual(["a"]);
  await nextTurn();
  expect(written).toEqual(["a", "b,c"]);
  send("d");
  expect(written).toEqual(["a", "b,c", "d"]);
  // What is held has a bound.
  send("e", 300_000);
  send("f");
  expect(written).toEqual(["a", "b,c", "d", "e"]);
  await nextTurn();
  expect(written).toEqual(["a", "b,c", "d", "e", "f"]);
});
