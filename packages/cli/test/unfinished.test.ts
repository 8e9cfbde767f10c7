import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { codex } from "./support.js";

/** A process with this waits for no connection and no timer. */
const WAITS_FOR_NOTHING = `
  import { Socket } from "node:net";
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (...args) { return connect.apply(this, args).unref(); };
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (...args) => setTimeout(...args).unref();`;

/** Takes connections and says nothing. */
let silent: Server;
beforeAll(async () => {
  silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
});
afterAll(() => void silent.close());

it("a command that can no longer finish fails, and says so", async () => {
  const preload = ["--import", `data:text/javascript,${encodeURIComponent(WAITS_FOR_NOTHING)}`];
  const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const argv = [...preload, codex, "tools", "list", "--executor", url];
  const ended = await new Promise((resolve) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
  });
  const stderr = "codex: the command did not finish: what it waited for cannot happen any more\n";
  expect(ended).toEqual({ code: 1, stdout: "", stderr });
});
