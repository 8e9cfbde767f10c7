import { readSync } from "node:fs";
import { createFileLocks, type FileLocks } from "./files/file-locks.js";
import { createMemoryFiles, type MemoryFiles } from "./files/memory-file.js";
import type { Gate } from "./gate/gate.js";
import { hasFunction } from "./libc/bind.js";
import { closeInheritedOnExec } from "./libc/descriptors.js";
import type { Library } from "./libc/koffi.js";
import { type Libc, loadLibc } from "./libc/libc.js";
import { bindBurstReader, type OpenBurstReader } from "./output/burst-reader.js";
import { createReadMemory, PIPE_BYTES, type ReadMemory } from "./output/read-memory.js";
import { ReadTurns } from "./output/read-turns.js";
import { type Children, createChildren } from "./process/children.js";
import type { NativeMarks } from "./process/marks.js";
import { createNativeMarks } from "./process/native-marks.js";
import { createPipes, type Pipes } from "./process/pipes.js";
import { readProcessStat } from "./process/process-stat.js";
import { shieldProcess } from "./process/shield.js";
import { createTrimMemory } from "./process/trim-memory.js";
import { createTerminals, type Terminals } from "./terminal/terminals.js";

/**
 * What a process host needs from the system and Node does not offer. Native code is loaded with the first use of a member,
 * so that it does not slow down start-up.
 */
export interface Native extends Terminals, Pipes, MemoryFiles, FileLocks {
  /** Buffers and bounds that the sources of one host share. */
  readonly readMemory: ReadMemory;
  /** The same as `readMemory.turns`, without loading native code. */
  readonly readTurns: ReadTurns;
  /** Undefined where Node must start programs: outside Linux, and where the C library lacks a function. */
  readonly children: Children | undefined;
  /** Undefined on a host without marks. */
  readonly marks: NativeMarks | undefined;
  /** Opens a gate of its own, in some 50 ms. Rejects with a `GateError` on a host without one. */
  openGate(): Promise<Gate>;
  /** See `shieldProcess`. */
  shield(): void;
  /** Returns free memory of the C library to the system, where supported. */
  trimMemory(): void;
  /** Process group of a process; undefined when it does not exist. Linux. */
  getGroup(pid: number): number | undefined;
}

/** Options of `createNative`. */
export interface NativeOptions {
  /** Capacity of a pipe once a program floods it, bytes. Default 64 KiB, also where the system does not allow more. Linux. */
  outputPipeBytes?: number;
  /** The most that one read of a pipe returns in a flood, bytes. Default 64 KiB. */
  outputReadBytes?: number;
  /** Called whenever a program begins to write more than is read in small reads. */
  onFlood?: () => void;
  /**
   * Linux: when native code is loaded, marks every inherited descriptor of this process close-on-exec, so that programs started
   * by Node do not inherit them either. Those started by `children` never do. This changes the whole process, so it is for one
   * that does nothing else. Default false.
   */
  closeInheritedOnExec?: boolean;
}

/** @param library replaces the C library of this process */
export function createNative(
  library?: Library,
  {
    outputPipeBytes = PIPE_BYTES,
    outputReadBytes = PIPE_BYTES,
    onFlood = () => {},
    closeInheritedOnExec: closesInherited = false,
  }: NativeOptions = {},
): Native {
  const readTurns = new ReadTurns();
  let libc: Libc | undefined;
  const getLibc = () => {
    if (libc === undefined) {
      libc = loadLibc(library);
      if (closesInherited) closeInheritedOnExec(libc);
    }
    return libc;
  };
  const isLinux = process.platform === "linux";
  let children: { native: Children | undefined } | undefined;
  let marks: { native: NativeMarks | undefined } | undefined;
  let readMemory: ReadMemory | undefined;
  const pipes = createPipes(getLibc, outputPipeBytes);
  return {
    ...createTerminals(getLibc),
    ...pipes,
    ...createMemoryFiles(getLibc),
    ...createFileLocks(getLibc),
    get readMemory() {
      readMemory ??= createReadMemory(
        {
          read: bindRead(getLibc()),
          enlargePipe(read) {
            onFlood();
            pipes.enlargePipe(read);
          },
          openBurstReader: isLinux ? announce(bindBurstReader(getLibc(), library), onFlood) : () => undefined,
          turns: readTurns,
        },
        outputReadBytes,
      );
      return readMemory;
    },
    readTurns,
    get children() {
      children ??= { native: isLinux ? createChildren(getLibc()) : undefined };
      return children.native;
    },
    get marks() {
      marks ??= { native: isLinux ? createNativeMarks(getLibc()) : undefined };
      return marks.native;
    },
    openGate: async () => (await import("./gate/open-gate.js")).openGate(getLibc),
    shield: () => shieldProcess(getLibc()),
    trimMemory: createTrimMemory(library),
    getGroup(pid) {
      if (!hasFunction(getLibc(), "getpgid")) return readProcessStat(pid)?.pgrp;
      const group = getLibc().getpgid(pid);
      return group < 0 ? undefined : group;
    },
  };
}

const announce =
  (open: OpenBurstReader, onFlood: () => void): OpenBurstReader =>
  (...args) => {
    onFlood();
    return open(...args);
  };

/** Node's own `read` throws when there is nothing to read, which is slower. */
function bindRead(libc: Libc): ReadMemory["read"] {
  if (hasFunction(libc, "read")) return libc.read;
  return (fd, into, bytes) => {
    try {
      return readSync(fd, into, 0, bytes, null);
    } catch {
      return -1;
    }
  };
}
