import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStdioChannel } from "../../src/index.js";

function open(skipsLeadingText = true) {
  const input = new PassThrough();
  const channel = createStdioChannel({ input, output: new PassThrough(), skipsLeadingText });
  onTestFinished(() => channel.close());
  return { input, channel };
}

const MESSAGE = '{"id":1,"result":{"text":"{}"}}';

describe("before the first message of a program", () => {
  it.each([
    ["lines of text", "Welcome to box\r\n* {not} a message *\n"],
    ["the title of a terminal", "\x1b]0;host\x07"],
    ["bracketed paste", "\x1b[?2004l\r"],
    ["a prompt", "me@box:~$ "],
    ["a prompt with braces, after a line", 'last login\n{me} "x" > '],
    ["a byte order mark", "\ufeff"],
    ["a value that is no object", "42\n"],
    ["an object that is no message", '{"level":"info","text":"ready"}\n'],
    ["a NUL, which begins a binary frame later", "\0\xff\xff\xff\n"],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x0a])],
  ])("%s is ignored", async (_name, text) => {
    const { input, channel } = open();
    channel.binary?.accept();
    input.write(text);
    input.write(`${MESSAGE}\ntext\n`);
    expect(await channel.receive()).toMatchObject({ kind: "value", value: JSON.parse(MESSAGE) as object });
    expect(channel.leadingTextBytes).toBeGreaterThanOrEqual(0);
    expect(await channel.receive()).toMatchObject({ kind: "malformed" });
  });

  it("text without an end is an error at once", async () => {
    const { input, channel } = open();
    for (let line = 0; line < 300; line += 1) input.write(`${"x".repeat(1023)}\n`);
    const problem = "more than 262144 bytes of text were printed before the first message";
    expect(await channel.receive()).toEqual({ kind: "malformed", problem });
    expect(await channel.closed).toMatchObject({ kind: "failed" });
  });

  it("text is an error for a server", async () => {
    const { input, channel } = open(false);
    input.write(`text\n${MESSAGE}\n`);
    expect(await channel.receive()).toMatchObject({ kind: "malformed" });
    expect(await channel.receive()).toMatchObject({ kind: "value" });
  });
});
