// A page of Chromium, driven over its debugging protocol as little as possible: a library that also follows the network would
// be sent each websocket frame, and so be measured as well.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";

const PROGRAM = "/usr/bin/chromium";

/** Undefined: there is no browser here. */
export async function startChromium() {
  if (!existsSync(PROGRAM)) return undefined;
  const profile = await mkdtemp(join(tmpdir(), "view bench "));
  const flags = ["--headless", "--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const child = spawn(PROGRAM, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stderr.on("data", (part) => {
      text += part;
      const found = /listening on (ws:\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`chromium has ended: ${text}`)));
  });
  const { host } = new URL(address);
  return {
    pid: child.pid,
    async open(url) {
      const response = await fetch(`http://${host}/json/new?${encodeURIComponent(url)}`, { method: "PUT" });
      return connectPage((await response.json()).webSocketDebuggerUrl);
    },
    async close() {
      child.kill();
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function connectPage(url) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const waiting = new Map();
  let next = 0;
  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const send = (method, params) =>
    new Promise((resolve) => {
      next += 1;
      waiting.set(next, resolve);
      socket.send(JSON.stringify({ id: next, method, params }));
    });
  const evaluate = async (expression) => {
    const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (result?.exceptionDetails !== undefined) throw new Error(`in the page: ${expression}`);
    return result?.result.value;
  };
  return {
    send,
    evaluate,
    /** Resolves with the first value that is true. */
    async until(expression, ms = 30_000) {
      const end = performance.now() + ms;
      for (;;) {
        const value = await evaluate(expression);
        if (value) return value;
        if (performance.now() > end) throw new Error(`the page has not come to: ${expression}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    close: () => send("Page.close", {}).then(() => socket.terminate()),
  };
}
