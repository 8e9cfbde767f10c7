import type { Random } from "../random.js";

/**
 * A program that records its effects in the file `$FILE`: its process id at the start, each line that it reads, each signal and
 * its exit code. Every byte of its output is known.
 */
export interface Program {
  readonly name: string;
  readonly script: string;
  readonly tty: boolean;
  readonly stdin: "null" | "open";
  /** The operations that it supports in addition to being ended. */
  readonly takes: "nothing" | "lines" | "signals" | "resizes";
  /** Its output by stream, for the given input lines. */
  output(lines: readonly string[]): { stdout: string; stderr: string };
  /** Whether it ends on its own, without input. */
  readonly ends: boolean;
  /** Whether it sends itself SIGKILL. */
  readonly killsItself?: boolean;
}

const BEGIN = 'echo "pid $$" >>"$FILE"';
const exitWith = (code: number) => `echo "exit ${code}" >>"$FILE"; exit ${code}`;

export function createProgram(random: Random): Program {
  const make = random.pick([
    flood,
    flood,
    flood,
    twoStreams,
    lines,
    lines,
    terminalLines,
    signals,
    sizes,
    late,
    suicide,
    quick,
    quick,
  ]);
  return make(random);
}

/** Eight bytes for each number, so that a lost, repeated or moved one is detected. */
const numbers = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(7, "0")}\n`).join("");
const printNumbers = (count: number) => `seq -f %07.0f 0 ${count - 1}`;

/** Numbers printed: a few, more than a pipe holds, more than a connection holds. */
const FLOODS = [1, 50, 3_000, 20_000, 200_000];

function flood(random: Random): Program {
  const count = random.between(1, random.pick(FLOODS));
  const code = random.between(0, 255);
  const script = `${BEGIN}; ${printNumbers(count)}; ${exitWith(code)}`;
  return quiet(`flood ${count}`, script, () => ({ stdout: numbers(count), stderr: "" }));
}

function twoStreams(random: Random): Program {
  const count = random.between(1, 5_000);
  const script = `${BEGIN}; ${printNumbers(count)} & ${printNumbers(count)} >&2; wait; ${exitWith(3)}`;
  return quiet(`two streams ${count}`, script, () => ({ stdout: numbers(count), stderr: numbers(count) }));
}

function quick(random: Random): Program {
  const code = random.between(0, 255);
  return quiet("quick", `${BEGIN}; echo out; echo err >&2; ${exitWith(code)}`, () => ({
    stdout: "out\n",
    stderr: "err\n",
  }));
}

/** A program whose child keeps the output open after its exit. */
function late(random: Random): Program {
  const seconds = random.between(1, 9) / 100;
  const script = `${BEGIN}; (sleep ${seconds}; echo late) & echo now; ${exitWith(4)}`;
  return quiet("late", script, () => ({ stdout: "now\nlate\n", stderr: "" }));
}

function suicide(): Program {
  const script = `${BEGIN}; echo bye; kill -KILL $$; sleep 30`;
  return { ...quiet("suicide", script, () => ({ stdout: "bye\n", stderr: "" })), killsItself: true };
}

const READ_LINES = `while IFS= read -r l; do echo "line $l" >>"$FILE"; echo "= $l"; done; ${exitWith(6)}`;
const answers = (written: readonly string[]) => written.map((line) => `= ${line}\n`).join("");

function lines(): Program {
  const script = `${BEGIN}; echo ready; ${READ_LINES}`;
  const output = (written: readonly string[]) => ({ stdout: `ready\n${answers(written)}`, stderr: "" });
  return { name: "lines", script, tty: false, stdin: "open", takes: "lines", output, ends: false };
}

function terminalLines(): Program {
  const script = `${BEGIN}; stty -echo -opost; echo ready; ${READ_LINES}`;
  const output = (written: readonly string[]) => ({ stdout: `ready\n${answers(written)}`, stderr: "" });
  return { name: "terminal lines", script, tty: true, stdin: "open", takes: "lines", output, ends: false };
}

function signals(): Program {
  const trap = `trap 'echo INT >>"$FILE"; echo INT' INT`;
  const script = `${BEGIN}; exec 2>/dev/null; sleep 300 & ${trap}; trap 'kill $!; ${exitWith(7)}' TERM; echo ready; while :; do wait $!; done`;
  const output = () => ({ stdout: "ready\n", stderr: "" });
  return { name: "signals", script, tty: false, stdin: "null", takes: "signals", output, ends: false };
}

/** A program that records each size of its terminal. */
function sizes(): Program {
  const report = `trap 's=$(stty size); echo "size $s" >>"$FILE"; echo "size $s"' WINCH`;
  const script = `${BEGIN}; exec 2>/dev/null; stty -echo -opost; sleep 300 & ${report}; trap 'kill $!; ${exitWith(8)}' TERM; echo ready; while :; do wait $!; done`;
  const output = () => ({ stdout: "ready\n", stderr: "" });
  return { name: "sizes", script, tty: true, stdin: "open", takes: "resizes", output, ends: false };
}

function quiet(name: string, script: string, output: Program["output"]): Program {
  return { name, script, tty: false, stdin: "null", takes: "nothing", output, ends: true };
}
