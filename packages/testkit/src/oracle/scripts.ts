import type { OracleScript } from "./oracle-script.js";
import { BASH, PIPES, STDIN } from "./pipe-scripts.js";
import { TERMINAL, TYPED } from "./terminal-scripts.js";

const splitLines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Each once, in a fixed order. */
export const ORACLE_SCRIPTS: readonly OracleScript[] = [
  ...splitLines(PIPES).map((script) => ({ script, shell: "sh" as const, tty: false })),
  ...splitLines(BASH).map((script) => ({ script, shell: "bash" as const, tty: false })),
  ...STDIN.map(([script, input]) => ({ script, shell: "sh" as const, input, tty: false })),
  ...splitLines(TERMINAL).map((script) => ({ script, shell: "sh" as const, tty: true })),
  ...TYPED,
];
