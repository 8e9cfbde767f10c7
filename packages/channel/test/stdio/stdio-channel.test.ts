import { PassThrough, Writable } from "node:stream";
import { type Channel, createStdioChannel } from "@codex/channel";
import { expect, test } from "vitest";
import { drain, expectRejection, nextValue, turn } from "../support.js";

function fromBytes(...chunks: (string | Buffer)[]) {
  const input = new PassThrough();
  for (const chunk of chunks) input.write(chunk);
  input.end();
  return input;
}

async function textAfterClose(channel: Channel, output: PassThrough): Promise<string> {
  const [chunks] = await Promise.all([output.setEncoding("utf8").toArray(), channel.close()]);
  return chunks.join("");
}

test("reads LF and CRLF lines and an unterminated last line, and skips blank ones", async () => {
  const input = fromBytes('{"a":1}\r\n\n  \t\r\n[2]\n"é', '€"');
  const channel = createStdioChannel({ input, output: new PassThrough() });
  expect(await drain(channel)).toEqual([{ a: 1 }, [2], "é€"].map((value) => ({ kind: "value", value })));
  expect(await channel.closed).toEqual({ kind: "peer_closed" });
  await channel.close();
});

test("reads the same however its bytes are chunked", async () => {
  const text = '{"é":"漢字😀"}\r\n\n[1,2]\nnope\n"end"';
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at++) {
    const input = new PassThrough();
    const channel = createStdioChannel({ input, output: new PassThrough() });
    input.write(bytes.subarray(0, at));
    await turn();
    input.end(bytes.subarray(at));
    expect(await drain(channel)).toEqual([
      { kind: "value", value: { é: "漢字😀" } },
      { kind: "value", value: [1, 2] },
      { kind: "malformed", problem: expect.stringContaining("4 bytes is not valid JSON") },
      { kind: "value", value: "end" },
    ]);
    await channel.close();
  }
});

test("skips a line over the limit, also when it arrives in pieces", async () => {
  const long = `"${"x".repeat(300_000)}"`;
  const input = fromBytes(`${long}\n1\n`, long.slice(0, 1000), long.slice(1000), "\n2\n");
  const channel = createStdioChannel({ input, output: new PassThrough(), limits: { maxMessageBytes: 1000 } });
  const tooLarge = { kind: "malformed", problem: "message is larger than the limit of 1000 bytes" };
  expect(await drain(channel)).toEqual([tooLarge, { kind: "value", value: 1 }, tooLarge, { kind: "value", value: 2 }]);
  await channel.close();
});

test("writes one line per value and nothing else", async () => {
  const output = new PassThrough();
  const channel = createStdioChannel({ input: new PassThrough(), output });
  const large = { s: "z".repeat(100_000) };
  const sends = [channel.send({ a: "\n\u2028" }), channel.send(large), channel.sendEncoded(Buffer.from("[ 1 ]"))];
  sends.push(channel.sendEncoded(Buffer.from(JSON.stringify(large))), channel.send(null));
  await Promise.all(sends);
  expect(await textAfterClose(channel, output)).toBe(
    `{"a":"\\n\u2028"}\n${JSON.stringify(large)}\n[ 1 ]\n${JSON.stringify(large)}\nnull\n`,
  );
});

test.each([
  { what: "bytes", chunk: "0123456789\n".repeat(10), chunks: 10, lines: 55 },
  { what: "reads", chunk: "0\n", chunks: 20, lines: 10 },
])("pauses its input at the limit of waiting $what, and resumes at half of it", async ({ chunk, chunks, lines }) => {
  const input = new PassThrough();
  const limits = { maxWaitingBytes: 1_000, maxWaitingMessages: 20 };
  const channel = createStdioChannel({ input, output: new PassThrough(), limits });
  let written = 0;
  for (; !input.isPaused() && written < 1_000; written++) {
    input.write(chunk);
    await turn();
  }
  expect(written).toBe(chunks);
  for (let n = 0; n < lines - 1; n++) await channel.receive();
  expect(input.isPaused()).toBe(true);
  await channel.receive();
  expect(input.isPaused()).toBe(false);
  await channel.close({ deadlineMs: 1 });
});

test("rejects an encoded value that would be two lines", async () => {
  const channel = createStdioChannel({ input: new PassThrough(), output: new PassThrough() });
  await expectRejection(channel.sendEncoded(Buffer.from('{\n"a":1}')), "unserializable", /line feed/);
  await channel.close();
});

test("values can be sent after the end of input", async () => {
  const output = new PassThrough();
  const channel = createStdioChannel({ input: fromBytes('{"q":1}'), output });
  expect(await drain(channel)).toHaveLength(1);
  await channel.send({ answer: 1 });
  expect(await textAfterClose(channel, output)).toBe('{"answer":1}\n');
});

test("still delivers values of a peer that does not read any more", async () => {
  const input = new PassThrough();
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  });
  const channel = createStdioChannel({ input, output });
  await channel.send("lost");
  expect(await channel.closed).toMatchObject({ kind: "peer_closed", detail: expect.stringContaining("EPIPE") });
  await expectRejection(channel.send("more"), "closed", /no longer reads/);
  input.end('"last words"\n');
  expect(await nextValue(channel)).toBe("last words");
  expect(await channel.receive()).toBeUndefined();
  await channel.close();
});

test("a failing stream ends the channel as failed, with the cause", async () => {
  const input = new PassThrough();
  const channel = createStdioChannel({ input, output: new PassThrough() });
  const cause = Object.assign(new Error("read EIO"), { code: "EIO" });
  input.destroy(cause);
  expect(await channel.receive()).toBeUndefined();
  expect(await channel.closed).toMatchObject({ kind: "failed", error: { code: "connection_lost", cause } });
  await channel.close();
});

test("with streams that have already ended the channel has ended", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  input.destroy();
  output.destroy();
  await turn();
  const channel = createStdioChannel({ input, output });
  expect(await channel.receive()).toBeUndefined();
  await expectRejection(channel.send(1), "closed", /peer/);
  await channel.close();
});
