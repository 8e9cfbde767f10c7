import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { exec, inTurn } from "../real-client/calls.js";
import { type ClientOptions, runCodexClient } from "../real-client/client.js";
import { codex } from "../support.js";
import type { Places } from "./cases.js";

/** What decides the sandbox of the client's commands. */
export type Confinement = Pick<ClientOptions, "sandbox" | "config">;

/** How to start an exec-server. */
export type ServerCommand = readonly [string, ...string[]];
export const ownServer: ServerCommand = [process.execPath, codex, "exec-server"];
export const codexServer = (binary: string): ServerCommand => [binary, "exec-server"];

/**
 * What the model of the real client sees of each script, on a server of its own, in a working directory `w` beside `o`.
 * In /var/tmp: the directory for temporary files may be written in a workspace, and holds no helpers of Codex.
 */
export async function observe(
  client: string,
  server: ServerCommand,
  scripts: readonly (string | ((places: Places) => string))[],
  options: Confinement | ((places: Places) => Confinement),
): Promise<string[]> {
  const root = mkdtempSync(join("/var/tmp", "codex-client-"));
  makeTree(root);
  const listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const env = { ...process.env, TMPDIR: join(root, "tmp"), CODEX_HOME: join(root, "home") };
  const [file, ...args] = server;
  const running = spawn(file, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [url] = (await once(createInterface({ input: running.stdout }), "line")) as [string];
    const places = { outside: join(root, "o"), port };
    const calls = scripts.map((script) => exec(typeof script === "string" ? script : script(places)));
    const results: string[] = [];
    await runCodexClient(client, inTurn(calls, results), {
      cwd: join(root, "w"),
      url,
      ...(typeof options === "function" ? options(places) : options),
    });
    return results.map((result) => summarize(result.replaceAll(root, "ROOT")));
  } finally {
    const exited = once(running, "exit");
    running.kill("SIGTERM");
    await exited;
    listener.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function makeTree(root: string): void {
  for (const directory of ["w/.git/hooks", "w/.git/objects", "w/.git/refs", "w/sub", "o", "tmp", "home"]) {
    mkdirSync(join(root, directory), { recursive: true });
  }
  writeFileSync(join(root, "w/.git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(root, "w/.git/config"), "[core]\n");
  for (const file of ["w/f", "w/old", "w/gone", "o/f"]) writeFileSync(join(root, file), "one\ntwo\n");
  writeFileSync(join(root, "w/sub/prod.env"), "one\n");
  symlinkSync("../o/f", join(root, "w/link-out"));
  symlinkSync("../o", join(root, "w/dirlink-out"));
}

/** `CODE: LAST LINE`, `patched: FILES`, or the answer of the client itself. */
function summarize(result: string): string {
  const patched = /Success\. Updated the following files:\n([\s\S]*)$/.exec(result)?.[1];
  if (patched !== undefined) return `patched: ${patched.trim()}`;
  // Of a command, and of a patch.
  const ended = /(?:Process exited with code|Exit code:) (-?\d+)\n[\s\S]*?Output:\n([\s\S]*)$/;
  const [, code, output] = ended.exec(result) ?? [];
  if (code === undefined) return result.trim();
  return `${code}: ${output!.split("\n").filter(Boolean).at(-1) ?? ""}`;
}
