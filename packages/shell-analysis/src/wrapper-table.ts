import type { OptionTable } from "./options.js";

/** How the command after a wrapper is found: options, operands, then the command. */
export interface Wrapper extends OptionTable {
  /** Operands before the command. */
  readonly operands?: number;
  /** `NAME=value` may come before the command. */
  readonly hasAssignments?: boolean;
  /** Names of options whose value is a script, separated by spaces. */
  readonly scripts?: string;
  /** The rest of the arguments is also run as one script. */
  readonly isJoined?: boolean;
  /** Without a command it runs a shell. */
  readonly isShell?: boolean;
  /** Options may follow operands. */
  readonly isMixed?: boolean;
}

/** Words of a shell before a command, and programs with no options of their own that matter. */
const PLAIN =
  "noglob nocorrect - then else elif do if while until { ( ! and or not begin coproc repeat unbuffer chronic eatmydata fakeroot";

/** Wrappers that people and models use; a program in no table may run any of its arguments, which are guesses. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    sudo: {
      isShell: true,
      hasAssignments: true,
      short: "ABbC:c:D:Eeg:HhiKklnNPp:R:r:SsT:t:U:u:vVa:",
      long: "askpass background close-from= login-class= chdir= preserve-env? edit group= set-home host= login remove-timestamp reset-timestamp list non-interactive preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= validate",
    },
    doas: { isShell: true, short: "C:Lnsu:a:" },
    env: {
      hasAssignments: true,
      short: "i0vu:C:S:P:a:",
      long: "ignore-environment null debug unset= chdir= split-string= argv0= block-signal? default-signal? ignore-signal? list-signal-handling",
      scripts: "S split-string",
      isJoined: true,
    },
    time: { short: "pf:o:avqVlh", long: "portability format= output= append verbose quiet" },
    timeout: { short: "k:s:vfp", long: "preserve-status foreground kill-after= signal= verbose", operands: 1 },
    nice: { short: "n:0123456789", long: "adjustment=" },
    ionice: { short: "c:n:p:P:tu:hV", long: "class= classdata= pid= pgid= ignore uid=" },
    taskset: { short: "apchV", long: "all-tasks pid cpu-list", operands: 1 },
    nohup: {},
    setsid: { short: "cfwhV", long: "ctty fork wait" },
    stdbuf: { short: "i:o:e:", long: "input= output= error=" },
    chroot: { isShell: true, operands: 1, long: "groups= userspec= skip-chdir" },
    unshare: {
      isShell: true,
      short: "muinpUCTfrchV",
      long: "mount? uts? ipc? net? pid? user? cgroup? time? fork map-root-user map-current-user kill-child? mount-proc? keep-caps",
    },
    strace: { short: "fFcCdhiqrtTvVxyYe:o:p:s:u:P:E:S:a:O:I:b:", long: "trace= output= follow-forks" },
    watch: {
      short: "bcCdeghn:pq:rs:tvwx",
      long: "beep color no-color differences? errexit chgexit equexit= interval= precise no-rerun no-title no-wrap exec",
      isJoined: true,
    },
    flock: {
      short: "sexunw:W:E:oc:FhV",
      long: "shared exclusive unlock nonblock nb timeout= wait= conflict-exit-code= close command= no-fork verbose",
      operands: 1,
      scripts: "c command",
      isMixed: true,
    },
    script: {
      isShell: true,
      isMixed: true,
      short: "I:O:B:T:t::m:ac:efE:o:qhV",
      long: "log-in= log-out= log-io= log-timing= timing? append command= return flush force echo= quiet",
      operands: 1,
      scripts: "c command",
    },
    ssh: {
      isShell: true,
      isJoined: true,
      isMixed: true,
      operands: 1,
      short: "46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:MmNnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy",
    },
    su: {
      isShell: true,
      operands: 1,
      isMixed: true,
      short: "lmpPc:s:g:G:",
      long: "login command= shell=",
      scripts: "c command",
    },
    runuser: {
      isShell: true,
      isMixed: true,
      short: "lmpPc:s:g:G:u:",
      long: "login command= shell= user=",
      scripts: "c command",
    },
    sg: { operands: 1, scripts: "c", short: "c:", isJoined: true, isMixed: true },
    command: { short: "p" },
    builtin: {},
    exec: { short: "cla:" },
    busybox: {},
    toybox: {},
    caffeinate: { short: "dimsut:w:" },
    npx: {
      short: "p:c:yq",
      long: "package= call= yes no-install no quiet workspace= workspaces",
      scripts: "c call",
    },
    ...Object.fromEntries(PLAIN.split(" ").map((word) => [word, {}])),
  }),
);
