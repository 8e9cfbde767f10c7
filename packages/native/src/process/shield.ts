import { bindLibc } from "../libc/bind.js";
import { type Libc, PROTOTYPES } from "../libc/libc.js";

/** prctl.h of Linux. */
const PR_SET_DUMPABLE = 4;

/**
 * Prevents programs of the same user from reading the memory or environment of this process and from tracing it, and disables
 * core dumps. Linux; no effect elsewhere. For a process with secrets on a host that runs untrusted programs.
 * @throws when the C library cannot be called, or lacks `prctl`
 */
export function shieldProcess(libc?: Pick<Libc, "prctl">): void {
  if (process.platform !== "linux") return;
  const { prctl } = libc ?? bindLibc<Pick<Libc, "prctl">>({ prctl: PROTOTYPES.prctl });
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
