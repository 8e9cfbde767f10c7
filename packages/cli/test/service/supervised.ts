import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { codex } from "../support.js";

const manager = fileURLToPath(new URL("manager.py", import.meta.url));
/** Whether the stand-in for a service manager runs here. */
export const canSupervise = (() => {
  try {
    return process.platform === "linux" && execFileSync("python3", ["--version"]).length > 0;
  } catch {
    return false;
  }
})();

interface Event {
  kind: "address" | "message" | "exit";
  value: unknown;
}

/** A service under a stand-in for a service manager. */
export class Supervised {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly events: Event[] = [];
  #onEvent = () => {};
  stderr = "";

  constructor(home: string, args: readonly string[], watchdogUs = 0) {
    const words = [manager, String(watchdogUs), process.execPath, codex, ...args];
    this.#child = spawn("python3", words, { env: { ...process.env, CODEX_HOME: home } });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      // The service shares this stdout, on which it prints its address.
      if (!line.startsWith("{")) return;
      this.events.push(JSON.parse(line));
      this.#onEvent();
    });
    this.#child.stderr.on("data", (bytes: Buffer) => {
      this.stderr += bytes.toString();
    });
  }

  send(word: string): void {
    this.#child.stdin.write(`${word}\n`);
  }

  /** The next event that matches, after the `from`th. */
  async next(isWanted: (event: Event) => boolean, from = 0): Promise<Event> {
    for (;;) {
      const found = this.events.slice(from).find(isWanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#onEvent = resolve;
      });
    }
  }

  message = (line: string, from = 0) =>
    this.next(({ kind, value }) => kind === "message" && (value as string[]).includes(line), from);

  async address(): Promise<string> {
    return String((await this.next(({ kind }) => kind === "address")).value);
  }
}
