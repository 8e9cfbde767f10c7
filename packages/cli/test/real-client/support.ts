import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Conversation } from "@codex/agent/testing";
import { afterEach, beforeEach } from "vitest";
import { codex } from "../support.js";
import { type ClientOptions, runCodexClient } from "./client.js";

/** The real client; tests that need it are skipped without. */
export const CODEX_BINARY = process.env.CODEX_BINARY;

/** Another make of the server, to compare with. */
export const OTHER_SERVER = process.env.EXEC_SERVER_BINARY;

/** How an exec-server is started with these arguments. */
export const serverCommand = (...args: string[]): [string, ...string[]] =>
  OTHER_SERVER === undefined
    ? [process.execPath, codex, "exec-server", ...args]
    : [OTHER_SERVER, "exec-server", ...args];

/** Variables of the server alone: programs tell by them where they were started. MCP servers are given the second only. */
export const SERVER_ENV = { STARTED_BY: "the-exec-server", LOGNAME: "the-exec-server" };

export interface RealClient {
  /** Empty, the client's working directory, removed after the test. */
  readonly directory: string;
  /** Address of the server of this test. */
  readonly url: string;
  /** Writes a file below the directory, and makes its folder. */
  write(path: string, content: string | Uint8Array): void;
  /** `runCodexClient` in the directory, on the server of this test and without a sandbox. */
  run(script: Conversation, options?: Partial<ClientOptions>): Promise<readonly string[]>;
  /** Called after the test, last one first. */
  onEnd(close: () => unknown): void;
}

/** An exec-server and a client for each test. */
export function useRealClient(): RealClient {
  const closing: (() => unknown)[] = [];
  let directory = "";
  let url = "";
  const makeDirectory = (prefix: string): string => {
    const path = mkdtempSync(join(realpathSync(tmpdir()), prefix));
    closing.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  beforeEach(async () => {
    directory = makeDirectory("codex-work-");
    const env = { ...process.env, ...SERVER_ENV, CODEX_HOME: makeDirectory("codex-home-") };
    const [program, ...args] = serverCommand("--listen", "ws://127.0.0.1:0");
    const server = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(server, "exit");
    closing.push(async () => {
      server.kill("SIGTERM");
      await exited;
    });
    [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return {
    get directory() {
      return directory;
    },
    get url() {
      return url;
    },
    onEnd: (close) => closing.push(close),
    write(path, content) {
      const full = join(directory, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
    },
    run(script, options) {
      const abort = new AbortController();
      closing.push(() => abort.abort());
      const { signal } = abort;
      return runCodexClient(CODEX_BINARY!, script, {
        cwd: directory,
        url,
        sandbox: "danger-full-access",
        signal,
        ...options,
      });
    },
  };
}
