import { closeSync, existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { GateRule, GateRules, OutsideProfile, ProgramReport } from "@codex/exec-gate";
import { afterAll } from "vitest";
import {
  type GateLeaving,
  type GateQuestions,
  type OutsideStart,
  startGate,
  type ThreadedGate,
} from "../../src/gate/gate.js";
import { loadLibc } from "../../src/libc/libc.js";
import { createNative } from "../../src/native.js";
import type { ExitStatus } from "../../src/process/exit-status.js";
import { createMarks, type Marks } from "../../src/process/marks.js";

export type ShortRule = readonly [decision: GateRule["decision"], ...pattern: string[]];

export interface Run {
  /** Of bash, unless `argv` is given. */
  script?: string;
  argv?: readonly string[];
  rules?: readonly ShortRule[];
  approved?: readonly (readonly string[])[];
  /** In a bubblewrap sandbox with namespaces of its own, where `ws` can be written. Default false. */
  isSandboxed?: boolean;
  env?: Readonly<Record<string, string>>;
  ws?: string;
  /** Where an allowed or accepted program runs. Default: outside, unrestricted, and where a rule asks inside. */
  profile?: OutsideProfile;
  /** Who is asked; absent: nobody. */
  questions?: GateQuestions;
  /** Called with the pid. */
  onStarted?: (pid: number) => void;
}

export interface Ran {
  status: ExitStatus;
  output: string;
  reports: readonly ProgramReport[];
  omitted: number;
}

/** Whether this host should have a gate: then it must. */
export const isGateLikely = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);

export const BWRAP = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].find(existsSync);

/** One gate for a file of tests. @param canTrace false: as on a host where no caller can be traced */
export function useGate(canTrace = true) {
  const native = createNative();
  const marks = createMarks();
  const directories: string[] = [];
  let opened: Promise<ThreadedGate> | undefined;
  const open = async () => {
    const gate = await startGate(loadLibc());
    gate.setTracing(canTrace && gate.verifies);
    return gate;
  };
  const getGate = () => {
    opened ??= open();
    return opened;
  };
  afterAll(async () => {
    await (await opened)?.close();
    opened = undefined;
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  const makeDirectory = () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-gate-")));
    directories.push(directory);
    return directory;
  };
  return {
    getGate,
    makeDirectory,
    /** Ends it, with everything that waits. */
    async close() {
      await (await opened)?.close();
      opened = undefined;
    },
    async run({
      script = "",
      argv = ["/bin/bash", "-c", script],
      rules = [],
      approved = [],
      ...run
    }: Run): Promise<Ran> {
      const gate = await getGate();
      const ws = run.ws ?? makeDirectory();
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: ws, WS: ws, LC_ALL: "C", ...run.env };
      const output = native.openPipe();
      const mark = marks.next();
      let reports: readonly ProgramReport[] = [];
      let omitted = 0;
      const { promise: ended, resolve, reject } = promiseWithResolvers<ExitStatus>();
      const sandboxed = run.isSandboxed === true;
      const words = sandboxed ? wrap(argv, ws) : argv;
      const pid = gate.spawn({
        file: words[0]!,
        argv: words,
        env,
        cwd: ws,
        stdio: { stdin: null, stdout: output.write, stderr: output.write },
        descriptors: [],
        mark,
        rules: toRules(rules, approved, run.profile),
        isSandboxed: sandboxed,
        wrappers: sandboxed ? 1 : 0,
        reach: { path: ["/usr/bin", "/bin"], access: [{ path: ws, isWritable: true }] },
        leaving: sandboxed ? toLeaving(env, ws, marks) : undefined,
        questions: run.questions,
        onReports(all, more) {
          reports = all;
          omitted = more;
        },
        onBroken: () => reject(new Error("the gate is broken")),
        onExit: resolve,
      });
      try {
        const started = await pid;
        run.onStarted?.(started);
      } finally {
        closeSync(output.write);
      }
      const socket = new Socket({ fd: output.read, readable: true, writable: false });
      const [status, text] = await Promise.all([ended, readText(socket)]);
      gate.end(mark);
      return { status, output: text, reports, omitted };
    },
  };
}

function promiseWithResolvers<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

const INSIDE = { kind: "inside" } as const;

function toRules(
  rules: readonly ShortRule[],
  approved: GateRules["approved"],
  profile: OutsideProfile | undefined,
): GateRules {
  return {
    rules: rules.map(([decision, ...pattern], index) => ({
      id: `r${index}`,
      decision,
      pattern: pattern.map((word) => [word]),
      place:
        decision === "ask" && profile === undefined ? INSIDE : { kind: "outside", profile: profile ?? "unrestricted" },
    })),
    hostExecutables: [],
    approved,
  };
}

/** Without a sandbox, or in one where also `profile` can be written. */
function toLeaving(env: Readonly<Record<string, string>>, ws: string, marks: Marks): GateLeaving {
  return {
    env,
    async prepare({ file, argv, env, cwd, profile }): Promise<OutsideStart> {
      const isJudged = profile !== "unrestricted";
      const writable = typeof profile === "string" ? [] : profile.write;
      const words = [file, ...argv.slice(1).map((word) => Buffer.from(word).toString())];
      const wrapped = wrap(words, ws, cwd, writable);
      return {
        file: isJudged ? wrapped[0]! : file,
        argv: isJudged ? wrapped : argv,
        env,
        cwd: isJudged ? "/" : ".",
        descriptors: [],
        mark: marks.next(),
        isSandboxed: isJudged,
        wrappers: isJudged ? 1 : 0,
        reach: undefined,
        onStarted: () => {},
        settle: async (status) =>
          "code" in status ? status.code : 256 + constants.signals[status.signal as NodeJS.Signals],
      };
    },
  };
}

/** Shorter than what the product does, and the same for a gate. */
const wrap = (argv: readonly string[], ws: string, cwd = ws, writable: readonly string[] = []): string[] => [
  BWRAP!,
  ...["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--cap-drop", "ALL"],
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", ws, ws, "--chdir", cwd],
  ...writable.flatMap((path) => ["--bind", path, path]),
  "--",
  ...argv,
];
