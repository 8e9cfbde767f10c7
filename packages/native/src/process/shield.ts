import { bindLibc } from "../libc/bind.js";
import { type Libc, PROTOTYPES } from "../libc/libc.js";

/** prctl.h of Linux. */
const PR_SET_DUMPABLE = 4;

/**
 * From now on no program of the same user can read the memory or the environment of this process, or trace it; it leaves no
 * core dump. Linux; elsewhere nothing changes. For a process that holds secrets while untrusted programs run beside it.
 * @throws where the C library cannot be called, or lacks `prctl`: it is not left unshielded in silence
 */
export function shieldProcess(libc?: Pick<Libc, "prctl">): void {
  if (process.platform !== "linux") return;
  const { prctl } = libc ?? bindLibc<Pick<Libc, "prctl">>({ prctl: PROTOTYPES.prctl });
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
