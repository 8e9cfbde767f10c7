import type { OracleScript } from "./oracle-script.js";

/** Types into a program: each text once the expected output has appeared and the program has been quiet for `QUIET_MS`. */
export interface Typist {
  receive(bytes: Uint8Array): void;
  stop(): void;
}

/** Milliseconds without output after which a program has finished drawing. */
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
