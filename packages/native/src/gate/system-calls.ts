/** What the gate depends on that differs between architectures. */
export interface Abi {
  /** AUDIT_ARCH_… of linux/audit.h, and the numbers of `execve` and `execveat` there. */
  executing: readonly ExecutingAbi[];
  seccomp: number;
  ptrace: number;
}

/** One way to call the kernel of an architecture. */
export interface ExecutingAbi {
  architecture: number;
  execve: number;
  execveat: number;
  /** Bytes of a pointer in the vectors of arguments. */
  pointerBytes: 4 | 8;
  /** Called by `int 0x80`, with its registers. */
  isInterrupt?: true;
}

const AUDIT_ARCH_X86_64 = 0xc000003e;
const AUDIT_ARCH_I386 = 0x40000003;
const AUDIT_ARCH_AARCH64 = 0xc00000b7;
const AUDIT_ARCH_ARM = 0x40000028;
/** Calls of the x32 ABI have this bit in their numbers. */
const X32 = 0x40000000;

/** Numbers of asm/unistd.h; those that every architecture shares are constants below. */
export const ABIS: Readonly<Partial<Record<string, Abi>>> = {
  x64: {
    executing: [
      { architecture: AUDIT_ARCH_X86_64, execve: 59, execveat: 322, pointerBytes: 8 },
      { architecture: AUDIT_ARCH_X86_64, execve: X32 + 520, execveat: X32 + 545, pointerBytes: 4 },
      { architecture: AUDIT_ARCH_I386, execve: 11, execveat: 358, pointerBytes: 4, isInterrupt: true },
    ],
    seccomp: 317,
    ptrace: 101,
  },
  arm64: {
    executing: [
      { architecture: AUDIT_ARCH_AARCH64, execve: 221, execveat: 281, pointerBytes: 8 },
      { architecture: AUDIT_ARCH_ARM, execve: 11, execveat: 387, pointerBytes: 4 },
    ],
    seccomp: 277,
    ptrace: 117,
  },
};

/** The same numbers on every architecture. */
export const PIDFD_OPEN = 434;
export const PIDFD_GETFD = 438;
export const OPENAT2 = 437;
