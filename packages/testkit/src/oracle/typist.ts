import type { OracleScript } from "./oracle-script.js";

/** Types at a program: each text once what it waits for was seen after the one before, and nothing came for a moment. */
export interface Typist {
  receive(bytes: Uint8Array): void;
  stop(): void;
}

/** Milliseconds without output: the program has drawn what it had to. */
const QUIET_MS = 60;

export function createTypist(steps: NonNullable<OracleScript["steps"]>, type: (text: string) => void): Typist {
  const left = [...steps];
  let seen = "";
  let timer: NodeJS.Timeout | undefined;
  const scheduleNext = () => {
    clearTimeout(timer);
    const next = left[0];
    if (next === undefined || !seen.includes(next[0])) return;
    timer = setTimeout(() => {
      left.shift();
      seen = "";
      type(next[1]);
      scheduleNext();
    }, QUIET_MS);
  };
  scheduleNext();
  return {
    receive(bytes) {
      seen += Buffer.from(bytes).toString("utf8");
      scheduleNext();
    },
    stop() {
      left.length = 0;
      clearTimeout(timer);
    },
  };
}
