import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** One way to run the marker program `zap`; `ZAP` stands for its absolute path. */
export interface Variant {
  readonly way: string;
  readonly argv: readonly string[];
  /** A program that has to be there. */
  readonly needs: string | undefined;
}

export const bash = (way: string, scripts: readonly string[], needs?: string): Variant[] =>
  scripts.map((script) => ({ way, argv: ["bash", "-c", script], needs }));

export const shell = (way: string, name: string, scripts: readonly string[], flag = "-c"): Variant[] =>
  scripts.map((script) => ({ way, argv: [name, flag, script], needs: name }));

export function title({ way, argv }: Variant): string {
  return `${way}: ${JSON.stringify(argv)}`;
}

/** `ZAP` is a script that leaves a mark, `ZAPBIN` a binary that makes the file it is given. */
export function fill(argv: readonly string[], zap: string): string[] {
  return argv.map((arg) => arg.replaceAll("ZAPBIN", `${zap}.d/zap`).replaceAll(/\bZAP\b/g, zap));
}

/** What shows that a program works here, where its being there does not. */
const PROBES: Record<string, readonly string[]> = {
  strace: ["true"],
  gdb: ["-batch", "-ex", "run", "--args", "true"],
  perf: ["stat", "true"],
  valgrind: ["true"],
  unshare: ["-m", "true"],
  bwrap: ["--dev-bind", "/", "/", "true"],
  nsenter: ["-t", String(process.pid), "-u", "true"],
  chroot: ["/", "true"],
  chrt: ["-o", "0", "true"],
  ionice: ["-c3", "true"],
  su: ["-c", "true"],
  runuser: ["-u", "root", "true"],
  sg: ["root", "true"],
  "ld.so": ["--version"],
  setarch: ["--uname-2.6", "true"],
  npx: ["--version"],
  npm: ["--version"],
};

const reasons = new Map<string, string | undefined>();

/** Why a variant cannot be run here. */
export function findReason(needs: string | undefined): string | undefined {
  if (process.platform !== "linux") return "the options are those of GNU and util-linux";
  if (needs === undefined) return undefined;
  if (!reasons.has(needs)) reasons.set(needs, probe(needs));
  return reasons.get(needs);
}

function probe(needs: string): string | undefined {
  const isThere = (process.env.PATH ?? "").split(delimiter).some((directory) => existsSync(join(directory, needs)));
  if (!isThere) return `\`${needs}\` is not installed`;
  const args = PROBES[needs];
  if (args === undefined) return undefined;
  const { status } = spawnSync(needs, args, { stdio: "ignore", timeout: 60_000 });
  return status === 0 ? undefined : `\`${needs}\` does not work here`;
}
