import { basename } from "node:path/posix";
import { getSignalNumber, type ProcessSpec, StartError } from "@codex/exec-backend";
import {
  type ExitStatus,
  firstDescriptor,
  type GateLeaving,
  type OutsideProgram,
  type OutsideStart,
} from "@codex/native";
import { widenSandbox } from "@codex/permissions";
import type { CommandSandbox, WrappedCommand } from "@codex/sandbox";
import type { Guard } from "../guard/guard.js";
import { guardPlaceholders } from "../guard/guard-process.js";
import type { JoinedNetwork } from "../network/session-networks.js";
import type { SessionResources } from "../resources/session-resources.js";
import { toReach } from "./reach.js";

export interface OutsideHost {
  sandbox: CommandSandbox;
  guard: Guard;
  /** A mark for the program and what it starts, which belong to the process. */
  nextMark(): bigint;
  /** The limits of its command. */
  resources: SessionResources | undefined;
  /** The network of its command. */
  joined: JoinedNetwork | undefined;
  /** What the program needed is being released; the promise never rejects. */
  onRelease(released: Promise<void>): void;
}

/** How programs of a sandboxed process are started outside of its sandbox: in another one, or in none. Undefined without a sandbox. */
export function createLeaving({ sandbox, env }: ProcessSpec, host: OutsideHost): GateLeaving | undefined {
  if (sandbox === undefined) return undefined;
  return {
    env,
    async prepare(called) {
      const widened = widenSandbox(sandbox, called.profile);
      const joined = called.profile === "unrestricted" || called.profile === "network" ? undefined : host.joined;
      const program = joined === host.joined ? called : withoutNetwork(called, host.joined);
      if (widened === null) return limit(startUnrestricted(program, host.nextMark()), host);
      const wrapped = await host.sandbox.wrap(toCommand(program), widened, joined?.network);
      if (wrapped === undefined) throw new StartError("sandbox_invalid", "nothing would restrict it there");
      return limit(startWrapped(program, guardPlaceholders(wrapped, host.guard), host), host);
    },
  };
}

/** What has the network of the host reaches neither the proxy nor the routes of its command's. */
function withoutNetwork(program: OutsideProgram, joined: JoinedNetwork | undefined): OutsideProgram {
  const isOfNetwork = ([name, value]: [string, string]) => joined?.variables[name] === value;
  return { ...program, env: Object.fromEntries(Object.entries(program.env).filter((entry) => !isOfNetwork(entry))) };
}

function toCommand({ file, argv, cwd, env, descriptors }: OutsideProgram) {
  const [name = file, ...words] = argv.map(toText);
  const arg0 = basename(name) === basename(file) ? {} : { arg0: name };
  const first = firstDescriptor({ passed: descriptors });
  return { argv: [file, ...words], file, ...arg0, cwd, env, session: "keep", firstDescriptor: first } as const;
}

/** It counts with its command. */
function limit(start: OutsideStart, { resources }: OutsideHost): OutsideStart {
  return resources === undefined
    ? start
    : { ...start, ...resources.wrap(start.file, start.argv), wrappers: start.wrappers + 1 };
}

function startUnrestricted({ file, argv, env }: OutsideProgram, mark: bigint): OutsideStart {
  return {
    file,
    argv,
    env,
    cwd: ".", // it is entered by a descriptor
    descriptors: [],
    mark,
    isSandboxed: false,
    wrappers: 0,
    reach: undefined,
    onStarted: () => {},
    settle: async (status) => toCode(status),
  };
}

function startWrapped(program: OutsideProgram, wrapped: WrappedCommand, host: OutsideHost): OutsideStart {
  const { file, args, cwd, env, descriptors, wrappers, status } = wrapped;
  // Its words are the last ones; as they are, where they are no UTF-8 text.
  const words = program.argv.slice(1);
  return {
    file,
    argv: [file, ...args.slice(0, args.length - words.length), ...words],
    env,
    cwd,
    descriptors,
    mark: host.nextMark(),
    isSandboxed: true,
    wrappers,
    reach: toReach(program.env, wrapped),
    onStarted(pid) {
      wrapped.detach();
      if (pid === undefined) host.onRelease(wrapped.release());
    },
    async settle(exit) {
      const released = wrapped.release();
      host.onRelease(released);
      await released;
      return status === undefined || "signal" in exit ? toCode(exit) : (status.exitCode ?? NOT_STARTED);
    },
  };
}

/** The exit code of a program whose sandbox did not start it. */
const NOT_STARTED = 126;

/** As its caller ends: 256 + the number for a death by signal. */
const toCode = (status: ExitStatus): number =>
  "code" in status ? status.code : SIGNALLED + (getSignalNumber(status.signal) ?? SIGKILL);

const SIGNALLED = 256;
const SIGKILL = 9;

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
