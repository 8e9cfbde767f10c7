import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { describeAddress, findCommandProblem, parseExecutorAddress } from "../src/executor-address.js";

const parse = (text: string) => parseExecutorAddress(text, "--executor");

it.each([
  ["wss://me:hunter2@h:1/codex?token=t#f", "wss://…@h:1/codex?…"],
  ["127.0.0.1:7000/?token=t", "127.0.0.1:7000/?…"],
  ["ws://h:1", "ws://h:1"],
  ["ssh build codex executor", "ssh build codex executor"],
])("a message shows %j as %j", (text, shown) => {
  expect(describeAddress(text)).toBe(JSON.stringify(shown));
});

describe("parseExecutorAddress", () => {
  it.each([
    ["ws://127.0.0.1:7000", "ws://127.0.0.1:7000"],
    ["ws://127.0.0.1:7000/", "ws://127.0.0.1:7000/"],
    [" WS://localhost:7000 ", "ws://localhost:7000"],
    ["wss://build.example/codex?x=1", "wss://build.example/codex?x=1"],
    ["http://127.0.0.1:7000", "ws://127.0.0.1:7000"],
    ["https://build.example", "wss://build.example"],
    ["127.0.0.1:7000", "ws://127.0.0.1:7000"],
    ["localhost:7000/", "ws://localhost:7000/"],
    ["build-1.example.com:7000/codex", "ws://build-1.example.com:7000/codex"],
    ["[::1]:7000", "ws://[::1]:7000"],
    ["7000", "ws://127.0.0.1:7000"],
    [":7000", "ws://127.0.0.1:7000"],
  ])("takes %j for the websocket %s", (text, url) => {
    expect(parse(text)).toEqual({ kind: "websocket", url });
  });

  it.each([
    ["unix:///run/codex.sock", "/run/codex.sock"],
    ["unix:/run/codex.sock", "/run/codex.sock"],
    ["unix:///with%20percent", "/with%20percent"],
  ])("takes %j for the socket %s", (text, path) => {
    expect(parse(text)).toEqual({ kind: "unix", path });
  });

  it.each([
    "codex",
    "codex executor",
    "./codex",
    "/usr/bin/codex",
    "ssh build:7000 codex executor",
    "cd /x && y",
    "ws://a b",
  ])("takes %j for a command", (line) => {
    expect(parse(line)).toEqual({ kind: "command", line });
  });

  it.each([
    ["", /is empty/],
    ["  ", /is empty/],
    ["ws://", /no address/],
    ["ws://h:99999", /no address/],
    ["70000", /no address/],
    ["h:99999", /no address/],
    ["ws://h:0", /port 0/],
    ["0", /port 0/],
    ["localhost", /port is missing.*localhost:PORT/],
    ["10.1.2.3", /port is missing/],
    ["[::1]", /port is missing.*\[::1\]:PORT/],
    ["::1", /in brackets: \[::1\]:PORT/],
    ["fe80::1:7000", /in brackets/],
    ["ssh://", /expected ssh:\/\/\[USER@\]HOST/],
    ["ssh://-oProxyCommand=x", /the host has a character that is not allowed/],
    ["ssh://me:secret@build", /"ssh:\/\/…@build": .*without a password/],
    ["stdio://", /other side listens/],
    ["tcp://h:1", /tcp:\/\/ is not supported/],
    ["ftp://h", /ftp:\/\/ is not supported/],
    ["unix://run/codex.sock", /absolute path/],
    ["ws://h:1/#x", /after #/],
  ])("says what is wrong with %j", (text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });

  it("does not repeat a password", () => {
    expect(() => parse("wss://me:hunter2@h:1")).toThrow(/^--executor "wss:\/\/…@h:1": an address holds no user/);
    expect(() => parse("tcp://me:hunter2@h:1")).not.toThrow(/hunter2/);
  });
});

describe("findCommandProblem", () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-address-"));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "program");

  it("finds programs as a shell does", () => {
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o644);
    expect(findCommandProblem("sh -c true")).toBeUndefined();
    expect(findCommandProblem("no-such-program executor")).toMatch(/no program `no-such-program` in PATH; expected/);
    expect(findCommandProblem(join(directory, "nothing"))).toMatch(/there is no file/);
    expect(findCommandProblem(`${file} executor`)).toMatch(/cannot be executed/);
    expect(findCommandProblem(directory)).toMatch(/is a directory/);
    chmodSync(file, 0o755);
    expect(findCommandProblem(`${file} executor`)).toBeUndefined();
    expect(findCommandProblem(`'${file}' executor --token-file "a b"`)).toBeUndefined();
    expect(findCommandProblem("'no such' executor")).toMatch(/no such/);
  });

  it("leaves to a shell what only a shell reads", () => {
    for (const line of ["cd /nowhere && codex executor", '"$HOME/no such" executor', "exec no-such", "A=b no-such"]) {
      expect(findCommandProblem(line)).toBeUndefined();
    }
  });
});
