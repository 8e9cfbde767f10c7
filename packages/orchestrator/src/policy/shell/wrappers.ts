import { posix } from "node:path";
import { splitWords } from "./line-words.js";

/** What a command runs in turn, as far as its arguments tell. */
export type Inner =
  | { readonly kind: "command"; readonly argv: readonly string[] }
  /** Text a shell runs; `args` are its $0, $1, … */
  | { readonly kind: "script"; readonly script: string; readonly args: readonly string[] }
  /** A shell runs the file of this name. */
  | { readonly kind: "file"; readonly path: string }
  /** A shell runs what it reads. */
  | { readonly kind: "input-script" }
  /** What is read becomes arguments; `placeholder` is replaced by them, else they come last. */
  | { readonly kind: "input-arguments"; readonly argv: readonly string[]; readonly placeholder: string | undefined };

/** Everything a command runs in turn; empty when it is no wrapper. Where arguments are ambiguous, more is returned. */
export function unwrapCommand(argv: readonly string[]): Inner[] {
  const [program, ...args] = argv;
  if (program === undefined) return [];
  const name = posix.basename(program);
  if (SHELLS.has(name)) return unwrapShell(args);
  const wrapper = WRAPPERS.get(name);
  if (wrapper !== undefined) return unwrapPlain(wrapper, args);
  return SPECIAL.get(name)?.(args) ?? [];
}

export const SHELLS: ReadonlySet<string> = new Set([
  ...["bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "yash", "csh", "tcsh"],
]);

/** Options of the usual shells that take the next argument. */
const SHELL_VALUE_OPTIONS = /^(?:[-+]\w*[oO]|--rcfile|--init-file|--init-command|-C)$/;

function unwrapShell(args: readonly string[]): Inner[] {
  let isScript = false;
  let isInput = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const option = args[at] ?? "";
    if (option === "--" || option === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(option)) break;
    if (/^-[a-zA-Z]*c/.test(option) || option.startsWith("--command")) isScript = true;
    if (/^-[a-zA-Z]*s/.test(option)) isInput = true;
    if (SHELL_VALUE_OPTIONS.test(option)) at += 1;
  }
  const [operand, ...rest] = args.slice(at);
  if (isScript) return operand === undefined ? [] : [{ kind: "script", script: operand, args: rest }];
  if (isInput || operand === undefined) return [{ kind: "input-script" }];
  return [{ kind: "file", path: operand }];
}

/** Whether a program of this name runs what its arguments say. */
export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name) || SPECIAL.has(name);
}

/** How the command behind a wrapper is found. */
interface Wrapper {
  /** Letters of short options that take a value. */
  readonly short?: string;
  /** Names of long options that take the next argument. */
  readonly long?: readonly string[];
  /** Operands before the command. */
  readonly operands?: number;
  /** `NAME=value` may come before the command. */
  readonly assignments?: boolean;
  /** Options whose value is a script. */
  readonly scripts?: readonly string[];
  /** The rest of the arguments is also run as one script. */
  readonly isJoined?: boolean;
  /** Without a command it runs a shell. */
  readonly isShell?: boolean;
  /** It runs what it reads, whatever its arguments. */
  readonly isInput?: boolean;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    env: {
      short: "uCPS",
      long: ["unset", "chdir", "split-string"],
      assignments: true,
      scripts: ["-S", "--split-string"],
    },
    sudo: {
      isShell: true,
      short: "ugUhpCrtTDRa",
      long: ["user", "group", "other-user", "host", "prompt", "close-from", "chdir", "chroot", "role", "type"],
      assignments: true,
    },
    doas: { isShell: true, short: "uCa" },
    pkexec: { long: ["user"] },
    su: {
      isShell: true,
      short: "cgGsTw",
      long: ["command", "group", "shell"],
      operands: 1,
      scripts: ["-c", "--command"],
    },
    runuser: {
      isShell: true,
      short: "ucgGs",
      long: ["user", "command", "group", "shell"],
      scripts: ["-c", "--command"],
    },
    time: { short: "fo", long: ["format", "output"] },
    timeout: { short: "ks", long: ["kill-after", "signal"], operands: 1 },
    nice: { short: "n", long: ["adjustment"] },
    ionice: { short: "cnpPu", long: ["class", "classdata"] },
    chrt: { short: "TPD", operands: 1 },
    taskset: { operands: 1 },
    nohup: {},
    setsid: {},
    stdbuf: { short: "ioe", long: ["input", "output", "error"] },
    chroot: { isShell: true, operands: 1 },
    unshare: { isShell: true, short: "GSRwl", long: ["root", "wd", "setuid", "setgid"] },
    nsenter: { isShell: true, short: "tSGN", long: ["target", "setuid", "setgid"] },
    "systemd-run": { short: "puHM", long: ["property", "unit", "uid", "gid", "working-directory", "setenv"] },
    strace: { short: "aeEoOpPsSuX" },
    ltrace: { short: "aADeFlnopsuwx" },
    watch: { short: "nq", long: ["interval"], isJoined: true },
    flock: {
      short: "wEc",
      long: ["timeout", "conflict-exit-code", "command"],
      operands: 1,
      scripts: ["-c", "--command"],
    },
    script: {
      isShell: true,
      short: "cIOBEmotT",
      long: ["command", "log-out", "log-in"],
      operands: 1,
      scripts: ["-c", "--command"],
    },
    ssh: { isShell: true, short: "bcDEeFIiJLlmOopQRSWw", operands: 1, isJoined: true },
    command: {},
    builtin: {},
    exec: { short: "a" },
    noglob: {},
    nocorrect: {},
    "-": {},
    busybox: {},
    toybox: {},
    caffeinate: { short: "tw" },
    arch: { short: "ed" },
    fakeroot: { short: "lisb" },
    unbuffer: {},
    rlwrap: { short: "abCDefgHlMmOPqSsTtw" },
    "xvfb-run": { short: "efnps" },
    "dbus-run-session": {},
    proxychains4: { short: "f" },
    torsocks: {},
    setpriv: { long: ["reuid", "regid", "groups", "securebits", "pdeathsig"] },
    runcon: { short: "turl", operands: 1 },
    prlimit: {},
    choom: { short: "np" },
    numactl: { short: "CNmip", long: ["cpunodebind", "physcpubind", "membind", "interleave", "preferred"] },
    setarch: { operands: 1 },
    linux32: {},
    linux64: {},
    i386: {},
    x86_64: {},
    cpulimit: { short: "lpe", long: ["limit"] },
    firejail: {},
    fakechroot: {},
    "dumb-init": {},
    tini: { short: "pe" },
    gosu: { operands: 1 },
    "su-exec": { operands: 1 },
    sg: { operands: 1, scripts: ["-c"], short: "c", isJoined: true },
    npx: { short: "p", long: ["package"] },
    entr: {},
    at: { isInput: true },
    batch: { isInput: true },
    parallel: { short: "jaISNnLs", long: ["jobs", "arg-file"], isJoined: true },
  }),
);

function unwrapPlain(wrapper: Wrapper, args: readonly string[]): Inner[] {
  if (wrapper.isInput === true) return [{ kind: "input-script" }];
  const inner: Inner[] = [];
  const at = skipOptions(wrapper, args, (script) => inner.push({ kind: "script", script, args: [] }));
  const command = args.slice(at);
  if (command.length === 0) return wrapper.isShell === true ? [...inner, { kind: "input-script" }] : inner;
  inner.push({ kind: "command", argv: command });
  // A first operand that is missing leaves the command one place earlier.
  if ((wrapper.operands ?? 0) > 0) inner.push({ kind: "command", argv: args.slice(at - 1) });
  if (wrapper.isJoined === true) inner.push({ kind: "script", script: command.join(" "), args: [] });
  return inner;
}

/** The place of the command behind options, assignments and operands. */
function skipOptions(wrapper: Wrapper, args: readonly string[], onScript: (script: string) => void): number {
  let operands = wrapper.operands ?? 0;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const isOption = /^-./.test(arg) && arg !== "--";
    if (isOption) {
      const { name, value, isNext } = readOption(wrapper, arg, args[at + 1]);
      if (value !== undefined && name !== undefined && wrapper.scripts?.includes(name)) onScript(value);
      if (isNext) at += 1;
    } else if (arg === "--" || arg === "-" || (wrapper.assignments === true && /^\w+=/.test(arg))) continue;
    else if (operands === 0) return at;
    else operands -= 1;
  }
  return args.length;
}

function readOption(
  wrapper: Wrapper,
  arg: string,
  next: string | undefined,
): { name?: string; value?: string | undefined; isNext: boolean } {
  if (arg.startsWith("--")) {
    const [name = "", ...value] = arg.slice(2).split("=");
    if (value.length > 0) return { name: `--${name}`, value: value.join("="), isNext: false };
    const isNext = wrapper.long?.includes(name) ?? false;
    return { name: `--${name}`, value: isNext ? next : undefined, isNext };
  }
  const at = [...arg].findIndex((letter, index) => index > 0 && (wrapper.short ?? "").includes(letter));
  if (at === -1) return { isNext: false };
  // What stands before it in a cluster takes no value.
  const name = `-${[...arg][at]}`;
  const attached = arg.slice(at + 1);
  return attached === "" ? { name, value: next, isNext: true } : { name, value: attached, isNext: false };
}

/** Commands with a way of their own; args without the program. */
const SPECIAL: ReadonlyMap<string, (args: readonly string[]) => Inner[]> = new Map(
  Object.entries<(args: readonly string[]) => Inner[]>({
    eval: (args) => [{ kind: "script", script: args.join(" "), args: [] }],
    trap: ([script = ""]) => [{ kind: "script", script, args: [] }],
    alias: (args) => args.map((arg) => ({ kind: "script", script: arg.slice(arg.indexOf("=") + 1), args: [] })),
    source: ([path = ""]) => [{ kind: "file", path }],
    ".": ([path = ""]) => [{ kind: "file", path }],
    coproc: (args) => [0, 1, 2].map((from) => ({ kind: "command", argv: args.slice(from) })),
    find: unwrapFind,
    fd: unwrapFd,
    fdfind: unwrapFd,
    xargs: unwrapXargs,
  }),
);

function unwrapFind(args: readonly string[]): Inner[] {
  const inner: Inner[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at] ?? "")) continue;
    const end = args.findIndex((word, index) => index > at && (word === ";" || word === "+"));
    inner.push({ kind: "command", argv: args.slice(at + 1, end === -1 ? args.length : end) });
    if (end === -1) break;
    at = end;
  }
  return inner;
}

function unwrapFd(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg));
  return at === -1 ? [] : [{ kind: "command", argv: args.slice(at + 1) }];
}

const XARGS: Wrapper = {
  short: "aEIdLnPsJR",
  long: ["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace", "process-slot-var"],
};

function unwrapXargs(args: readonly string[]): Inner[] {
  const at = skipOptions(XARGS, args, () => undefined);
  const argv = args.slice(at);
  if (argv.length === 0) return [];
  const options = args.slice(0, at).join(" ");
  const placeholder =
    /(?:^| )-\w*[IJ] ?(\S+)/.exec(options)?.[1] ?? (/(?:^| )(?:-i|--replace)( |$)/.test(options) ? "{}" : undefined);
  return [
    { kind: "command", argv },
    { kind: "input-arguments", argv, placeholder },
  ];
}

/** The arguments xargs makes of a text. */
export function fillArguments(inner: Extract<Inner, { kind: "input-arguments" }>, text: string): string[] {
  const { argv, placeholder } = inner;
  const words = splitWords(text.replaceAll("\0", "\n")) ?? text.split(/\s+/);
  if (placeholder === undefined) return [...argv, ...words];
  return argv.map((arg) => arg.replaceAll(placeholder, () => text.trim()));
}
