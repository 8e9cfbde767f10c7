import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import type { Effects } from "./effects.js";
import type { History } from "./history.js";
import type { Program } from "./programs.js";

/** One chunk as it was delivered; `offset` counts the bytes of all streams. */
export interface Delivered {
  stream: OutputStream;
  offset: number;
  bytes: Buffer;
}

/** Everything that was reported about a process by the end of its run. */
export interface ProcessRecord {
  name: string;
  program: Program;
  /** Undefined: the start failed, or its outcome is unknown. */
  outcome: ProcessOutcome | undefined;
  /** `refused`: it was not started. `unknown`: the response was lost. */
  start: "started" | "refused" | "unknown";
  /** The output is complete. */
  closed: boolean;
  chunks: readonly Delivered[];
  /** Ranges of output that were reported as dropped. */
  evicted: readonly { from: number; to: number }[];
  /** Output that a follower from the beginning received; undefined without one. */
  followed: Buffer | undefined;
  /** Number of pieces of output, of unknown size, that the peer reported as dropped. */
  missing: number;
  lines: readonly { text: string; accepted: boolean }[];
  signals: { sent: number; answered: number };
  /** Requested sizes, all different; `oneByOne` when each was awaited before the next. */
  resizes: { sizes: readonly string[]; oneByOne: boolean };
  /** Its end was requested. */
  ended: boolean;
  /** The faults of the connection allow the loss of a process. */
  mayBeLost: boolean;
  /** The peer reports deaths by signal as exit codes, as Codex does. */
  codesOnly: boolean;
}

/** Checks the guarantees for one process: it ran once, its outcome is right, every byte is accounted for. */
export function checkProcess(record: ProcessRecord, effects: Effects, history: History): void {
  checkStart(record, effects, history);
  checkOutcome(record, effects, history);
  checkInput(record, effects, history);
  checkSizes(record, effects, history);
  checkOutput(record, effects, history);
}

function checkStart({ name, start, outcome, ended }: ProcessRecord, { pids }: Effects, history: History): void {
  history.check(pids.length <= 1, () => `${name} was started ${pids.length} times`);
  history.check(start !== "refused" || pids.length === 0, () => `${name} was refused and runs`);
  // A program that is terminated right away may not have recorded its start.
  const ran = outcome?.kind === "exited" && !ended;
  history.check(!ran || pids.length === 1, () => `${name} exited without having run`);
}

function checkOutcome(record: ProcessRecord, { exits }: Effects, history: History): void {
  const { name, program, outcome, ended, mayBeLost, codesOnly } = record;
  const wasKilled = ended || program.killsItself === true;
  if (outcome === undefined) return;
  switch (outcome.kind) {
    case "exited":
      // Over the exec-server protocol a death by signal is a code as well; Codex gives 1 on a terminal.
      if (wasKilled && (outcome.code > 128 || codesOnly)) return;
      history.check(
        exits.includes(outcome.code),
        () => `${name} exited with ${outcome.code}; it had recorded ${exits.join()}`,
      );
      break;
    case "signaled":
      history.check(wasKilled, () => `${name} was ended by ${outcome.signal} (${outcome.by}), which was not sent`);
      break;
    case "lost":
      history.check(mayBeLost, () => `${name} was lost: ${outcome.reason}`);
      history.check(outcome.reason !== "", () => `${name} was lost without a reason`);
      break;
    case "failed_to_start":
      history.fail(`${name} failed to start after it was started: ${outcome.reason}`);
      break;
    case "running":
      break;
  }
}

function checkInput({ name, lines, signals, outcome }: ProcessRecord, effects: Effects, history: History): void {
  let at = 0;
  for (const line of effects.lines) {
    const found = lines.findIndex(({ text }, index) => index >= at && text === line);
    if (found === -1) return history.fail(`${name} read ${JSON.stringify(line)} twice, out of order, or unasked`);
    const skipped = lines.slice(at, found).find(({ accepted }) => accepted);
    history.check(skipped === undefined, () => `${name} never got ${JSON.stringify(skipped?.text)}, which was taken`);
    at = found + 1;
  }
  // Only a program that has reached the end of its input must have read all of it.
  const rest = lines.slice(at).filter(({ accepted }) => accepted);
  const readAll = outcome?.kind === "exited" && effects.exits.includes(6);
  history.check(
    !readAll || rest.length === 0,
    () => `${name} never got ${JSON.stringify(rest[0]?.text)}, which was taken`,
  );
  history.check(effects.signals <= signals.sent, () => `${name} got ${effects.signals} signals of ${signals.sent}`);
  if (outcome?.kind === "running" || outcome?.kind === "lost") return;
  history.check(
    effects.signals >= signals.answered,
    () => `${name} got ${effects.signals} signals of ${signals.answered}`,
  );
}

/** Sizes arrive in order and once; of two concurrent sizes the kernel may report only the second, and twice. */
function checkSizes({ name, resizes }: ProcessRecord, effects: Effects, history: History): void {
  const asked = resizes.sizes;
  history.check(
    effects.sizes.length <= asked.length,
    () => `${name} was resized ${effects.sizes.length} times, asked ${asked.length} times`,
  );
  let last = -1;
  for (const size of effects.sizes) {
    const at = asked.indexOf(size);
    const isNext = resizes.oneByOne ? at === last + 1 : at >= last;
    if (at === -1 || !isNext)
      return history.fail(`${name} has sizes ${effects.sizes.join(", ")} of ${asked.join(", ")}`);
    last = at;
  }
}

function checkOutput(record: ProcessRecord, effects: Effects, history: History): void {
  const { name, program, chunks, evicted, followed, missing, mayBeLost, codesOnly, outcome, ended } = record;
  const wanted = program.output(effects.lines);
  const print = "INT\n".repeat(effects.signals) + effects.sizes.map((size) => `size ${size}\n`).join("");
  const stdout = Buffer.from(wanted.stdout + print);
  const stderr = Buffer.from(wanted.stderr);
  // Codex retains 1 MiB for a disconnected client, and drops the rest.
  history.check(missing === 0 || mayBeLost || codesOnly, () => `${name}: ${missing} pieces of output are missing`);
  checkAccounted(record, history);
  if (missing > 0) return;
  const whole =
    record.closed && outcome?.kind !== "lost" && (effects.exits.length > 0 || program.killsItself === true) && !ended;
  if (evicted.length > 0) return checkPositions(name, chunks, stdout, history);
  const joined = (isWanted: (stream: OutputStream) => boolean) =>
    Buffer.concat(chunks.filter(({ stream }) => isWanted(stream)).map(({ bytes }) => bytes));
  checkBytes(
    `${name} stdout`,
    joined((stream) => stream !== "stderr"),
    stdout,
    whole,
    history,
  );
  checkBytes(
    `${name} stderr`,
    joined((stream) => stream === "stderr"),
    stderr,
    whole,
    history,
  );
  if (followed === undefined || stderr.length > 0) return;
  checkBytes(`${name} followed`, followed, stdout, whole, history);
}

/** Offsets do not overlap, and have no gaps except reported ones. */
function checkAccounted({ name, chunks, evicted }: ProcessRecord, history: History): void {
  const pieces = [...chunks.map(({ offset, bytes }) => ({ from: offset, to: offset + bytes.length })), ...evicted].sort(
    (a, b) => a.from - b.from,
  );
  let at = 0;
  for (const { from, to } of pieces) {
    if (from !== at) return history.fail(`${name}: output is reported to continue at ${from} after ${at}`);
    at = to;
  }
}

function checkPositions(name: string, chunks: readonly Delivered[], wanted: Buffer, history: History): void {
  for (const { offset, bytes } of chunks) {
    const right = bytes.equals(wanted.subarray(offset, offset + bytes.length));
    if (!right) return history.fail(`${name}: the bytes from ${offset} are not those of that place`);
  }
}

function checkBytes(what: string, got: Buffer, wanted: Buffer, whole: boolean, history: History): void {
  const right = got.equals(whole ? wanted : wanted.subarray(0, got.length));
  if (right) return;
  let at = 0;
  while (at < got.length && got[at] === wanted[at]) at += 1;
  const show = (bytes: Buffer) => JSON.stringify(bytes.subarray(at, at + 24).toString("latin1"));
  history.fail(`${what}: ${got.length} of ${wanted.length} bytes; at ${at} ${show(got)} instead of ${show(wanted)}`);
}
