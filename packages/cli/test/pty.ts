import { type IPty, spawn } from "node-pty";

/** A terminal with a program on it, as a person has it before them. */
export class Terminal {
  /** All that was shown. */
  output = "";
  readonly ended: Promise<{ code: number; signal: number | undefined }>;
  readonly #child: IPty;
  readonly #waiting = new Set<() => void>();
  /** Up to where `shown` has looked. */
  #seen = 0;

  constructor(
    file: string,
    args: readonly string[],
    {
      cwd = process.cwd(),
      env = {},
      size = { cols: 400, rows: 24 },
    }: { cwd?: string; env?: Record<string, string>; size?: { cols: number; rows: number } } = {},
  ) {
    const { PATH = "" } = process.env;
    this.#child = spawn(file, [...args], { ...size, cwd, env: { PATH, ...env } });
    this.#child.onData((data) => {
      this.output += data;
      for (const wake of [...this.#waiting]) wake();
    });
    this.ended = new Promise((resolve) =>
      this.#child.onExit(({ exitCode, signal }) => {
        resolve({ code: exitCode, signal });
        for (const wake of [...this.#waiting]) wake();
      }),
    );
  }

  /** Waits for a text that came after the last one that was waited for. */
  async shown(text: string): Promise<void> {
    for (let at = -1; at === -1; ) {
      at = this.output.indexOf(text, this.#seen);
      if (at !== -1) this.#seen = at + text.length;
      else {
        await new Promise<void>((resolve) => {
          const wake = () => {
            this.#waiting.delete(wake);
            resolve();
          };
          this.#waiting.add(wake);
        });
      }
    }
  }

  type(text: string): void {
    this.#child.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#child.resize(cols, rows);
  }

  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    this.#child.kill(signal);
  }
}
