/** The places of one run. */
export interface Places {
  /** Beside the working directory. */
  outside: string;
  /** Where somebody listens on this host. */
  port: number;
}

/** What the model sees of it on Codex's server, and why not on ours. */
interface Difference {
  told: string;
  reason: string;
}

/** A script that the model runs. */
interface Scripted {
  name: string;
  script: string | ((places: Places) => string);
  codex?: Difference;
}

/** What the model sees: the exit code and the last line, or a response of the client itself. */
export interface ModeCase extends Scripted {
  "workspace-write": string;
  "read-only": string;
}

export interface ProfileCase extends Scripted {
  told: string;
}

const patch = (body: string) => `apply_patch <<'EOF'\n*** Begin Patch\n${body}\n*** End Patch\nEOF`;
const both = (told: string) => ({ "workspace-write": told, "read-only": told });
const connect = (port: number) => `import socket; socket.create_connection(("127.0.0.1",${port}))`;

const READ_ONLY = "Read-only file system";
const NOT_PERMITTED = "1: PermissionError: [Errno 1] Operation not permitted";
const REJECTED = "patch rejected: writing outside of the project; rejected by user approval settings";
const NO_WRITES = "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings";
const IS_ROOT = process.getuid?.() === 0;
const KERNEL = { told: "0: ", reason: "settings of the one kernel belong to user 0, in the sandbox too" };
const shell = (path: string) => `1: /bin/bash: line 1: ${path}: ${READ_ONLY}`;

export const MODE_CASES: readonly ModeCase[] = [
  {
    name: "writes in the directory",
    script: "echo x > in.txt && cat in.txt",
    "workspace-write": "0: x",
    "read-only": shell("in.txt"),
  },
  { name: "writes beside it", script: ({ outside }) => `echo x > ${outside}/n`, ...both(shell("ROOT/o/n")) },
  { name: "overwrites beside it", script: ({ outside }) => `echo x > ${outside}/f`, ...both(shell("ROOT/o/f")) },
  { name: "reads beside it", script: ({ outside }) => `cat ${outside}/f`, ...both("0: two") },
  {
    name: "writes to /tmp",
    script: "f=$(mktemp -p /tmp codex-XXXXXX 2>&1) && rm $f && echo made || echo none",
    "workspace-write": "0: made",
    "read-only": "0: none",
  },
  {
    name: "writes to $TMPDIR",
    script: 'touch "$TMPDIR/t" 2>/dev/null && echo made || echo none',
    "workspace-write": "0: made",
    "read-only": "0: none",
  },
  { name: "plants a hook", script: "echo x > .git/hooks/pre-commit", ...both(shell(".git/hooks/pre-commit")) },
  { name: "changes what git does", script: "echo x >> .git/config", ...both(shell(".git/config")) },
  {
    name: "renames .git",
    script: "mv .git g",
    "workspace-write": "1: mv: cannot move '.git' to 'g': Device or resource busy",
    "read-only": `1: mv: cannot move '.git' to 'g': ${READ_ONLY}`,
  },
  {
    name: "makes .codex",
    script: "mkdir .codex",
    "workspace-write": "1: mkdir: cannot create directory ‘.codex’: File exists",
    "read-only": `1: mkdir: cannot create directory ‘.codex’: ${READ_ONLY}`,
  },
  {
    name: "makes something in .agents",
    script: "touch .agents/x",
    "workspace-write": `1: touch: cannot touch '.agents/x': ${READ_ONLY}`,
    "read-only": "1: touch: cannot touch '.agents/x': No such file or directory",
  },
  {
    name: "makes something in .aws",
    script: "touch .aws/x",
    "workspace-write": `1: touch: cannot touch '.aws/x': ${READ_ONLY}`,
    "read-only": "1: touch: cannot touch '.aws/x': No such file or directory",
  },
  {
    name: "follows a link out",
    script: ({ outside }) => `ln -s ${outside}/f l && { echo x > l; rm l; exit 4; }`,
    "workspace-write": "4: /bin/bash: line 1: l: Read-only file system",
    "read-only": `1: ln: failed to create symbolic link 'l': ${READ_ONLY}`,
  },
  { name: "connects", script: ({ port }) => `python3 -c '${connect(port)}'`, ...both(NOT_PERMITTED) },
  {
    name: "makes a path socket",
    script: "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'",
    ...both(NOT_PERMITTED),
    codex: { told: "0: ", reason: "a path socket leads out of the sandbox, and who listens there acts for it" },
  },
  { name: "makes a pair of sockets", script: "python3 -c 'import socket; socket.socketpair()'", ...both("0: ") },
  { name: "writes to /dev/null", script: "echo x > /dev/null", ...both("0: ") },
  {
    name: "writes to /etc",
    script: "touch /etc/codex-client",
    ...both(`1: touch: cannot touch '/etc/codex-client': ${READ_ONLY}`),
  },
  { name: "exits", script: "exit 7", ...both("7: ") },
  { name: "kills itself", script: "kill -9 $$", ...both("137: ") },
  {
    name: "runs what is not there",
    script: "no-such-program",
    ...both("127: /bin/bash: line 1: no-such-program: command not found"),
  },
  { name: "sees no process but its own", script: "[ $(ls /proc | grep -c '^[0-9]') -lt 8 ]", ...both("0: ") },
  {
    name: "signals a process outside",
    script: `kill -0 ${process.pid}`,
    ...both(`1: /bin/bash: line 1: kill: (${process.pid}) - No such process`),
  },
  { name: "knows that it has no network", script: "echo $CODEX_SANDBOX_NETWORK_DISABLED", ...both("0: 1") },
  {
    name: "opens a setting of the kernel to write",
    script: "exec 3<> /proc/sys/kernel/hostname",
    ...both(`1: /bin/bash: line 1: /proc/sys/kernel/hostname: ${IS_ROOT ? READ_ONLY : "Permission denied"}`),
    ...(IS_ROOT ? { codex: KERNEL } : {}),
  },
  {
    name: "makes a namespace",
    script: "unshare -r true",
    ...both("1: unshare: unshare failed: Operation not permitted"),
    codex: {
      told: "1: unshare: write failed /proc/self/uid_map: Operation not permitted",
      reason: "namespaces of its own are refused by the filter, not by what happens to them later",
    },
  },
  { name: "leaves something behind", script: "(sleep 60) & echo now", ...both("0: now") },
  {
    name: "patches a file",
    script: patch("*** Update File: old\n@@\n one\n-two\n+TWO"),
    "workspace-write": "patched: M old",
    "read-only": NO_WRITES,
  },
  {
    name: "adds a file",
    script: patch("*** Add File: added\n+hi"),
    "workspace-write": "patched: A added",
    "read-only": NO_WRITES,
  },
  {
    name: "adds a file in a new folder",
    script: patch("*** Add File: new/deep/n\n+hi"),
    "workspace-write": "patched: A new/deep/n",
    "read-only": NO_WRITES,
  },
  {
    name: "deletes a file",
    script: patch("*** Delete File: gone"),
    "workspace-write": "patched: D gone",
    "read-only": NO_WRITES,
  },
  {
    name: "moves a file",
    script: patch("*** Update File: f\n*** Move to: moved/f2\n@@\n one\n-two\n+2"),
    "workspace-write": "patched: M moved/f2",
    "read-only": NO_WRITES,
  },
  {
    name: "patches beside it",
    script: patch("*** Update File: ../o/f\n@@\n one\n-two\n+2"),
    "workspace-write": REJECTED,
    "read-only": NO_WRITES,
  },
  {
    name: "adds a hook",
    script: patch("*** Add File: .git/hooks/post-commit\n+hi"),
    "workspace-write": REJECTED,
    "read-only": NO_WRITES,
  },
  {
    name: "adds a configuration",
    script: patch("*** Add File: .codex/config.toml\n+hi"),
    "workspace-write": REJECTED,
    "read-only": NO_WRITES,
  },
  {
    name: "patches through a link out",
    script: patch("*** Update File: link-out\n@@\n one\n-two\n+2"),
    "workspace-write": "1: Failed to write file ROOT/w/link-out",
    "read-only": NO_WRITES,
  },
  {
    name: "adds a file through a link out",
    script: patch("*** Add File: dirlink-out/n\n+hi"),
    "workspace-write": "1: Failed to write file ROOT/w/dirlink-out/n",
    "read-only": NO_WRITES,
  },
  {
    name: "sees what has become of all this",
    script:
      "find . -type f -not -path './.git/*' | sort | tr '\\n' ' '; ls .git/hooks; cat ../o/f | tail -1 | tr '\\n' ' '",
    "workspace-write": "0: ./added ./in.txt ./moved/f2 ./new/deep/n ./old ./sub/prod.env two ",
    "read-only": "0: ./f ./gone ./old ./sub/prod.env two ",
  },
];

const CLOSED_PATCH =
  "apply_patch verification failed: Failed to read file to update ROOT/w/sub/prod.env: Permission denied (os error 13)";

/** The workspace may be written but for `*.env`, and `o` cannot be read. */
export const CLOSING_PROFILE = (outside: string) => `
[permissions.closing.filesystem]
":root" = "read"
":workspace_roots" = { "." = "write", "**/*.env" = "deny" }
"${outside}" = "deny"
`;

export const CLOSING_CASES: readonly ProfileCase[] = [
  { name: "reads a closed file", script: "cat sub/prod.env", told: "1: cat: sub/prod.env: Permission denied" },
  { name: "reads it by a link", script: "ln -s sub/prod.env l && cat l", told: "1: cat: l: Permission denied" },
  {
    name: "writes a closed file",
    script: "echo x > sub/prod.env",
    told: "1: /bin/bash: line 1: sub/prod.env: Permission denied",
    codex: { told: shell("sub/prod.env"), reason: "it is a device here, which cannot be opened at all" },
  },
  {
    name: "renames around a closed file",
    script: "mv sub bus && mv bus sub",
    told: "1: mv: cannot move 'sub' to 'bus': Device or resource busy",
    codex: { told: "0: ", reason: "what is put in its place would be open, and what programs outside read" },
  },
  {
    name: "reads a closed directory",
    script: ({ outside }) => `ls ${outside}`,
    told: "2: ls: cannot open directory 'ROOT/o': Permission denied",
  },
  {
    name: "reads in a closed directory",
    script: ({ outside }) => `cat ${outside}/f`,
    told: "1: cat: ROOT/o/f: Permission denied",
  },
  { name: "writes beside a closed file", script: "echo y > sub/n && cat sub/n", told: "0: y" },
  { name: "patches beside a closed file", script: patch("*** Add File: sub/added\n+hi"), told: "patched: A sub/added" },
  {
    name: "patches a closed file",
    script: patch("*** Update File: sub/prod.env\n@@\n-one\n+two"),
    told: `${CLOSED_PATCH}: ROOT/w/sub/prod.env`,
    codex: { told: CLOSED_PATCH, reason: "our errors name the path" },
  },
  // A pattern closes what is there when a command or a call begins.
  {
    name: "adds a file that will be closed",
    script: patch("*** Add File: sub/new.env\n+hi"),
    told: "patched: A sub/new.env",
  },
  { name: "reads what is closed by now", script: "cat sub/new.env", told: "1: cat: sub/new.env: Permission denied" },
  {
    name: "writes to /tmp",
    script: "touch /tmp/codex-closed",
    told: `1: touch: cannot touch '/tmp/codex-closed': ${READ_ONLY}`,
  },
];

/** Nothing but programs and the workspace. */
export const NARROW_PROFILE = `
[permissions.narrow.filesystem]
":minimal" = "read"
":workspace_roots" = { "." = "write" }
`;

export const NARROW_CASES: readonly ProfileCase[] = [
  { name: "runs programs", script: "grep -c one f", told: "0: 1" },
  { name: "writes in the directory", script: "echo y > n && cat n", told: "0: y" },
  {
    name: "reads beside it",
    script: ({ outside }) => `cat ${outside}/f`,
    told: "1: cat: ROOT/o/f: No such file or directory",
  },
  { name: "lists the directories above", script: "ls .. | grep -v home", told: "0: w" },
  {
    name: "lists home directories",
    script: "ls /home",
    told: "2: ls: cannot access '/home': No such file or directory",
  },
  {
    name: "writes to /tmp",
    script: "echo x > /tmp/codex-narrow",
    told: "1: /bin/bash: line 1: /tmp/codex-narrow: No such file or directory",
    codex: { told: "0: ", reason: "there it is written into nothing, and lost with the command" },
  },
  {
    name: "makes a directory at the root",
    script: "mkdir /codex-narrow",
    told: `1: mkdir: cannot create directory ‘/codex-narrow’: ${READ_ONLY}`,
    codex: { told: "0: ", reason: "as above" },
  },
  { name: "plants a hook", script: "echo x > .git/hooks/pre-commit", told: shell(".git/hooks/pre-commit") },
  { name: "patches a file", script: patch("*** Update File: old\n@@\n one\n-two\n+TWO"), told: "patched: M old" },
  { name: "adds a file in a new folder", script: patch("*** Add File: new/n\n+hi"), told: "patched: A new/n" },
];
