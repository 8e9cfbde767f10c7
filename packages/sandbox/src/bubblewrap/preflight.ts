import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { errnoOf } from "@codex/exec-backend";
import type { Native } from "@codex/native";
import { messageOf, toError } from "@codex/values";
import { TRIAL_DEADLINE_MS } from "../limits.js";
import type { SandboxProfile } from "../profile/profile.js";
import { createSeccompFilter } from "../seccomp/filter.js";
import { findBubblewrap } from "./find-bubblewrap.js";
import { renderBubblewrap } from "./render-arguments.js";
import { spawnWith } from "./spawn-with.js";

/** What a Linux host supports, determined by a trial run. */
export type Preflight =
  | {
      kind: "ok";
      bubblewrap: string;
      /** It can give a program another argv[0]. */
      argv0: boolean;
      /** It can mount what a descriptor refers to. */
      bindFd: boolean;
    }
  | {
      kind: "missing";
      problem: string;
      /** The host was short of a resource: the next attempt may succeed. */
      isTransient: boolean;
    };

/** Never rejects. */
export async function checkBubblewrap(native: Native): Promise<Preflight> {
  const missing = (problem: string, isTransient = false): Preflight => ({ kind: "missing", problem, isTransient });
  if (createSeccompFilter("restricted") === undefined) {
    return missing(
      `there is no table of system calls for the architecture \`${process.arch}\`; x64 and arm64 have one`,
    );
  }
  const { path, refused } = findBubblewrap();
  if (path === undefined) return missing([INSTALL, ...refused].join("; "));
  // Concurrently: a command waits for both.
  const trial = tryOut(path, native);
  const { text: help, shortage, failure: refusal } = await readHelp(path);
  if (shortage !== undefined) return missing(`${path} could not be tried: ${shortage}`, true);
  if (refusal !== undefined) return missing(explainFailure(path, refusal));
  const lacking = NEEDED_OPTIONS.filter((option) => !help.includes(option));
  if (lacking.length > 0) {
    return missing(`${path} is too old: it does not support ${lacking.join(", ")}; install bubblewrap 0.5 or newer`);
  }
  const failure = await trial;
  if (failure === undefined)
    return { kind: "ok", bubblewrap: path, argv0: help.includes("--argv0"), bindFd: help.includes("--ro-bind-fd") };
  const { text, isTransient, hasRun } = failure;
  // What this process itself could not do says nothing about the host.
  return missing(hasRun ? explainFailure(path, text) : `${path} could not be tried: ${text}`, isTransient);
}

/** A guess from files of the host, without a trial run. */
export function isProbablyUsable(): boolean {
  const stopped = process.getuid?.() === 0 ? ["everybody"] : ["everybody", "users"];
  const isOff = SETTINGS.some(({ file, refuses, stops }) => stopped.includes(stops) && refuses(readSetting(file)));
  return !isOff && findBubblewrap().path !== undefined;
}

const INSTALL =
  "the program `bwrap` was not found; install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`; " +
  "Fedora: `dnf install bubblewrap`; Alpine: `apk add bubblewrap`)";

const NEEDED_OPTIONS = ["--args", "--clearenv", "--json-status-fd", "--die-with-parent", "--perms", "--seccomp"];

interface Help {
  text: string;
  /** The resource that was short; undefined when the program ran, whatever it printed. */
  shortage: string | undefined;
  /** Why there is no help; undefined when there is. */
  failure: string | undefined;
}

const readHelp = (path: string): Promise<Help> =>
  new Promise((resolve) => {
    const tell = (error: Error | null, text: string) =>
      resolve({
        text,
        shortage: error === null ? undefined : findShortage(error),
        failure: error === null ? undefined : text.trim() || error.message,
      });
    try {
      execFile(path, ["--help"], { env: {}, timeout: TRIAL_DEADLINE_MS }, (error, stdout, stderr) => {
        tell(error, stdout + stderr);
      });
    } catch (error) {
      tell(toError(error), "");
    }
  });

/** The shortage for which a program could not be started or did not end in time; undefined for other failures. */
function findShortage(error: Error): string | undefined {
  if ("killed" in error && error.killed === true) return `it did not end within ${TRIAL_DEADLINE_MS} ms`;
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && SHORTAGES.has(code) ? error.message : undefined;
}

const SHORTAGES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "ETXTBSY"]);

/** The same shortages in the words of the C library, as a trial run prints them. */
const SHORTAGE_TEXT =
  /resource temporarily unavailable|too many open files|cannot allocate memory|out of memory|no space left on device/i;

/** A profile that uses everything a sandbox may need. */
const TRIAL: SandboxProfile = {
  fileSystem: { entries: [{ path: "/", access: "read", kind: "directory" }], minimal: false },
  network: "restricted",
};

interface TrialFailure {
  text: string;
  isTransient: boolean;
  /** Whether bubblewrap was started: the text is its own then. */
  hasRun: boolean;
}

/** Undefined when the trial run succeeds, else what it printed, or why it could not be started. */
async function tryOut(bubblewrap: string, native: Native): Promise<TrialFailure | undefined> {
  const { args, options } = renderBubblewrap(
    { argv: ["/bin/sh", "-c", ":"], cwd: "/", env: {}, session: "new" },
    TRIAL,
    { options: 3, seccomp: 4, status: 5 },
  );
  try {
    const { code, stderr } = await spawnWith(native, bubblewrap, args, [options, createSeccompFilter("restricted")!]);
    if (code === 0) return undefined;
    if (code === null) {
      const text = `it was killed after ${TRIAL_DEADLINE_MS} ms or by another process`;
      return { text, isTransient: true, hasRun: true };
    }
    return {
      text: stderr.trim() || `exit code ${code}`,
      isTransient: SHORTAGE_TEXT.test(stderr) && !areNamespacesOff(),
      hasRun: true,
    };
  } catch (error) {
    const text = messageOf(error);
    const isTransient = SHORTAGES.has(errnoOf(error) ?? "") || SHORTAGE_TEXT.test(text);
    return { text, isTransient, hasRun: false };
  }
}

/** Where namespaces are forbidden altogether, the kernel reports a lack of space for them. */
const areNamespacesOff = (): boolean => SETTINGS.some(({ file, refuses }) => refuses(readSetting(file)));

/** Explains a failed trial run by the settings of the host, the most frequent cause first. */
export function explainFailure(path: string, failure: string, read: (file: string) => string = readSetting): string {
  const [line] = failure.split("\n");
  const text = `a trial run of ${path} failed (${line})`;
  if (/proc/i.test(failure) && /mount|permitted/i.test(failure) && /newroot\/proc|proc on/.test(failure)) {
    return `${text}: this host does not let a new /proc be mounted, as in a container whose /proc is masked or read-only; ${CONTAINER}`;
  }
  if (/can't (read|open) \/proc/i.test(failure)) return `${text}: this process has no /proc, or may not read it`;
  const setting = SETTINGS.find(({ file, refuses }) => refuses(read(file)));
  if (setting !== undefined) return `${text}: ${setting.text}`;
  if (/seccomp|prctl/i.test(failure)) return `${text}: this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)`;
  return `${text}: this user may not create namespaces; ${CONTAINER}`;
}

const CONTAINER =
  "in a container, give it CAP_SYS_ADMIN, or a seccomp profile and an unmasked /proc that allow user namespaces " +
  "(Docker: `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, and `apparmor=unconfined` where there is AppArmor)";

interface Setting {
  file: string;
  refuses(value: string): boolean;
  stops: "everybody" | "users" | "some programs";
  text: string;
}

const SETTINGS: readonly Setting[] = [
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    refuses: (value) => value === "0",
    stops: "users",
    text: "user namespaces are switched off for users; `sysctl kernel.unprivileged_userns_clone=1` switches them on",
  },
  {
    file: "/proc/sys/user/max_user_namespaces",
    refuses: (value) => value === "0",
    stops: "everybody",
    text: "no user namespace may be created; `sysctl user.max_user_namespaces=15000` allows them",
  },
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    refuses: (value) => value === "1",
    stops: "some programs",
    text:
      "AppArmor keeps programs without a profile from creating user namespaces; give bwrap a profile with `userns,` " +
      "(Ubuntu: package apparmor-profiles, `bwrap-userns-restrict`), or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
  },
];

function readSetting(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
