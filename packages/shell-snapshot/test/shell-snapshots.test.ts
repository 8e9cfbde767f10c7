import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { findSmallDiskProblem, openSmallDisk } from "@codex/testkit";
import { describe, expect, it } from "vitest";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict } from "../../sandbox/test/support.js";
import { MAX_AGE_MS, MAX_SNAPSHOTS, MAX_STATE_BYTES } from "../src/limits.js";
import { createPrivateDirectory } from "../src/private-directory.js";
import type { ShellStartup } from "../src/shell-snapshots.js";
import { findShell, useHome } from "./support.js";

const noDisk = findSmallDiskProblem();

const BASH_PROFILE = String.raw`
export NORMAL="it's
two lines \$HOME" PATH="$HOME/bin:$PATH"
unexported='x y'
declare -A map=([k1]="v1" ["k 2"]="v'2")
declare -a arr=(one "two words" $'three\nlines')
declare -i num=5
declare -r RO=const
IFS=:
shopt -s extglob nullglob expand_aliases
set -o pipefail -u
f1() { case $1 in @(a|b)) echo ab;; *) echo other;; esac; }
f2() { cat <<HERE
here $1
HERE
}
export -f f2
alias ll='echo aliased' multi='echo one
echo two'
umask 077
ulimit -n 512
ulimit -c 0
trap 'echo bye' EXIT
`;

const BASH_SCRIPTS = [
  `f1 a; f2 q; echo "\${map[k 2]} \${arr[2]} $num $RO [$NORMAL] $unexported"; printf '%q\n' "$IFS"`,
  "ll; multi; alias; declare -F; declare -f f1",
  "shopt extglob nullglob; set -o; umask; ulimit -n; ulimit -c; trap -p; env | sort",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
  'echo "$0 $- $# L$LINENO $BASH_EXECUTION_STRING ${BASH_ENV-none} $SHLVL"\nnosuch\necho $LINENO',
  "false | true; echo $?; echo $undefinedvar; echo after",
  "RO=1; echo still",
  "bash -c 'f2 sub'; cd /; pwd",
  "kill -9 $$",
  "echo 'unclosed",
  "exit 7",
];

const ZSH_FILES = {
  ".zshenv": `
alias zz='echo zaliased'
alias -g GG='| tr a-z A-Z'
path+=(/opt/zsh/bin)
fpath+=(/opt/zfun)
zf() { echo "zf $1" }
typeset -A assoc; assoc=(k1 v1 'k 2' "v'2")
arr=(one 'two words' "three
lines")
export EXP='a b'
local_only=quux
setopt extended_glob no_nomatch sh_word_split
umask 027
ulimit -n 777
TRAPUSR1() { echo usr1 }
`,
  ".zprofile": "export FROM_ZPROFILE=1\nhash -d proj=/usr/share\nautoload -Uz zmv\nzmodload zsh/datetime\n",
  ".zlogout": "echo logged out\n",
};

const ZSH_SCRIPTS = [
  `zz; echo hello GG; zf a; print -l $assoc "\${arr[@]}" $path $fpath`,
  "echo $EXP $local_only $FROM_ZPROFILE; umask; ulimit -n; env | sort; setopt; echo ~proj; alias",
  `echo "$0 L$LINENO $ZSH_EXECUTION_STRING \${ZDOTDIR-unset} $SHLVL $options[login]"\nnosuch\necho $LINENO`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
  'kill -USR1 $$; x="a b"; print -l $x; zmodload; typeset -p local_only EXP; [[ -n ${functions[zmv]} ]]; echo $?',
  "kill -9 $$",
  "echo 'unclosed",
  "exit 7",
];

const shells = [
  {
    name: "bash",
    files: { ".bash_profile": BASH_PROFILE, ".bash_logout": "" },
    scripts: BASH_SCRIPTS,
    profile: ".bash_profile",
  },
  { name: "zsh", files: ZSH_FILES, scripts: ZSH_SCRIPTS, profile: ".zprofile" },
] as const;

describe.each(shells)("a snapshot of $name", ({ name, files, scripts, profile }) => {
  const shell = findShell(name);
  const test = it.skipIf(shell === undefined);
  const place = useHome();
  const reasonOf = (startup: ShellStartup) => (startup.kind === "login" ? startup.reason : `none: ${startup.kind}`);

  test("is no other than a login shell", { timeout: 60_000 }, async () => {
    place.write(files);
    const snapshots = place.snapshots();
    for (const script of scripts) {
      const command = place.command(shell!, script);
      const startup = await snapshots.find(command, { waitMs: 20_000 });
      if (startup.kind === "login") throw new Error(startup.reason);
      expect(await place.run({ ...command, ...startup })).toEqual(await place.run(command));
    }
  });

  test("is made in the background, once, while commands are given true login shells", async () => {
    place.write({ [profile]: "echo x >>$HOME/runs; export MADE=1; echo noise" });
    const snapshots = place.snapshots();
    const command = place.command(shell!, "echo $MADE");
    expect(reasonOf(await snapshots.find(command))).toBe("the snapshot is being made");
    expect(await snapshots.find(command, { waitMs: 20_000 })).toMatchObject({ kind: "snapshot" });
    const startup = await snapshots.find(place.command(shell!, "echo $MADE; exit 3"));
    if (startup.kind === "login") throw new Error(startup.reason);
    expect(await place.run({ ...command, ...startup })).toMatchObject({ stdout: "1\n", outcome: { code: 3 } });
    expect(readFileSync(join(place.home, "runs"), "utf8")).toBe("x\n");
  });

  test("does not bring back what the policy forces or leaves out", async () => {
    place.write({ [profile]: "export TERM=changed A_TOKEN=secret OTHER=1; b_token=secret; unset LC_ALL" });
    const envPolicy = { inherit: "none" as const, ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };
    const command = place.command(shell!, "env; set; export -p", { envPolicy, overlay: { TERM: "dumb", LC_ALL: "C" } });
    const snapshots = place.snapshots();
    // A snapshot under a more permissive policy is not shared, even if the environment is the same.
    const ignoring = { ...command, envPolicy: { ...envPolicy, ignoreDefaultExcludes: true } };
    const loose = await snapshots.find(ignoring, { waitMs: 20_000 });
    if (loose.kind === "login") throw new Error(loose.reason);
    expect((await place.run({ ...command, ...loose })).stdout).toMatch(/^A_TOKEN=secret$/m);
    const startup = await snapshots.find(command, { waitMs: 20_000 });
    if (startup.kind === "login") throw new Error(startup.reason);
    const { stdout } = await place.run({ ...command, ...startup });
    expect(stdout).toMatch(/^TERM=dumb$/m);
    expect(stdout).toMatch(/^LC_ALL=C$/m);
    expect(stdout).toMatch(/^OTHER=1$/m);
    expect(stdout).not.toContain("secret");
    expect(readFileSync(startup.env.BASH_ENV ?? `${startup.env.ZDOTDIR}/.zlogin`, "utf8")).not.toContain("secret");
  });

  test.each([
    ["exit 0", /end the shell/],
    ["exec sh", /end the shell/],
    ["sleep 300 &", /jobs running/],
    ["exec 9</dev/null", /open files/],
    ["sleep 300", /within 1500 ms/],
    ["umask 077; readonly HOME_COPY=$HOME; cd / 2>/dev/null; cd $OLDPWD; pushd / >/dev/null", /stack/],
  ] as const)("is not made of %j, and the reason is reported", async (script, reason) => {
    place.write({ [profile]: script });
    const snapshots = place.snapshots({ captureMs: 1_500 });
    const command = place.command(shell!, "echo");
    expect(reasonOf(await snapshots.find(command, { waitMs: 20_000 }))).toMatch(reason);
    expect(reasonOf(await snapshots.find(command))).toMatch(reason);
  });

  it.skipIf(shell === undefined || NO_BUBBLEWRAP !== undefined)(
    `is made in the sandbox of its command${NO_BUBBLEWRAP === undefined ? "" : `: skipped, ${NO_BUBBLEWRAP}`}`,
    async () => {
      place.write({ [profile]: "touch $HOME/outside 2>/dev/null && export ESCAPED=1; export MADE=1" });
      const sandbox = restrict([READ_ALL]);
      const command = place.command(shell!, "echo $MADE$ESCAPED; echo x >>$BASH_ENV; echo x >>$ZDOTDIR/.zlogin", {
        sandbox,
      });
      const snapshots = place.snapshots();
      const startup = await snapshots.find(command, { waitMs: 20_000 });
      if (startup.kind === "login") throw new Error(startup.reason);
      expect((await place.run({ ...command, ...startup })).stdout).toBe("1\n");
      expect(existsSync(join(place.home, "outside"))).toBe(false);
      const hidden = restrict([READ_ALL, entry(place.kept, "deny")]);
      const refused = await snapshots.find({ ...command, sandbox: hidden }, { waitMs: 20_000 });
      expect(reasonOf(refused)).toMatch(/would not be the same|could not be read/);
    },
  );

  test("is for one environment alone", async () => {
    place.write({ [profile]: "export FROM=$KIND" });
    const snapshots = place.snapshots();
    for (const KIND of ["a", "b"]) {
      const command = place.command(shell!, "echo $FROM $CODEX_TOOL_CALL_ID");
      const env = { ...command.env, KIND, CODEX_TOOL_CALL_ID: "first" };
      await snapshots.find({ ...command, env }, { waitMs: 20_000 });
      const startup = await snapshots.find({ ...command, env: { ...env, CODEX_TOOL_CALL_ID: "second" } });
      if (startup.kind === "login") throw new Error(startup.reason);
      expect((await place.run({ ...command, ...startup })).stdout).toBe(`${KIND} second\n`);
    }
  });

  test("is one of a bounded number; the least recently used one is evicted", {
    timeout: 60_000,
  }, async () => {
    const snapshots = place.snapshots();
    const find = (index: number, waitMs: number) => {
      const command = place.command(shell!, "true");
      return snapshots.find({ ...command, env: { ...command.env, INDEX: String(index) } }, { waitMs });
    };
    for (let index = 0; index <= MAX_SNAPSHOTS; index += 1) {
      await find(index, 20_000);
      await find(1, 0);
    }
    expect((await find(1, 0)).kind).toBe("snapshot");
    expect((await find(MAX_SNAPSHOTS, 0)).kind).toBe("snapshot");
    expect((await find(0, 0)).kind).toBe("login");
  });

  test("is not made of a shell that tells too much of itself", async () => {
    place.write({ [profile]: `big=$(head -c ${MAX_STATE_BYTES} /dev/zero | tr '\\0' x)` });
    const startup = await place.snapshots().find(place.command(shell!, "true"), { waitMs: 20_000 });
    expect(reasonOf(startup)).toMatch(`more than ${MAX_STATE_BYTES} bytes`);
  });

  it.skipIf(noDisk !== undefined)(
    `is not made on a disk that is full, and leaves nothing there${noDisk === undefined ? "" : ` (${noDisk})`}`,
    async () => {
      const disk = await openSmallDisk(64 * 1024);
      disk.fill();
      const snapshots = place.snapshots({ env: { CODEX_HOME: disk.path } });
      const startup = await snapshots.find(place.command(shell!, "true"), { waitMs: 20_000 });
      expect(reasonOf(startup)).toMatch(/: it could not be kept: ENOSPC: no space left on device/);
      const [own] = readdirSync(join(disk.path, "shell-snapshots"));
      expect(readdirSync(join(disk.path, "shell-snapshots", own!))).toEqual([]);
      await snapshots.close();
      await disk.close();
    },
  );

  test("is made again when a startup file has changed, when it is old, and when it was modified", async () => {
    place.write({ [profile]: "export V=1" });
    let now = 0;
    const snapshots = place.snapshots({ now: () => now, maxAgeMs: 1_000 });
    const command = place.command(shell!, "echo $V");
    await snapshots.find(command, { waitMs: 20_000 });
    appendFileSync(join(place.home, profile), "\nexport V=2");
    expect(reasonOf(await snapshots.find(command))).toBe("startup files have changed");
    const startup = await snapshots.find(command, { waitMs: 20_000 });
    if (startup.kind === "login") throw new Error(startup.reason);
    expect((await place.run({ ...command, ...startup })).stdout).toBe("2\n");
    now = 1_001;
    expect(reasonOf(await snapshots.find(command))).toBe("the snapshot is being made");
    await snapshots.find(command, { waitMs: 20_000 });
    const path = startup.env.BASH_ENV ?? `${startup.env.ZDOTDIR}/.zlogin`;
    await expect.poll(() => existsSync(path)).toBe(false);
    const [own = ""] = readdirSync(place.kept);
    for (const file of readdirSync(join(place.kept, own), { recursive: true, withFileTypes: true })) {
      if (file.isFile()) appendFileSync(join(file.parentPath, file.name), "\necho hijacked\n");
    }
    expect(reasonOf(await snapshots.find(command))).toBe("the snapshot is being made");
  });

  test("is in files of the user alone, which are gone after it", async () => {
    const snapshots = place.snapshots();
    await snapshots.find(place.command(shell!, "true"), { waitMs: 20_000 });
    const entries = readdirSync(place.kept, { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(1);
    for (const entry of entries) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect(mode).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
    await snapshots.close();
    expect(readdirSync(place.kept)).toEqual([]);
    expect(reasonOf(await snapshots.find(place.command(shell!, "true")))).toMatch(/shutting down/);
  });
});

describe("the directory of snapshots", () => {
  const place = useHome();
  const open = () => createPrivateDirectory({ CODEX_HOME: dirname(place.kept) });
  const long = (Date.now() - 3 * MAX_AGE_MS) / 1000;

  it("is made again after somebody took it away", () => {
    const directory = open();
    rmSync(directory.write({ snapshot: "one" }).path, { recursive: true });
    rmSync(place.kept, { recursive: true });
    const files = directory.write({ snapshot: "two" });
    expect(readFileSync(join(files.path, "snapshot"), "utf8")).toBe("two");
    expect(files.isIntact()).toBe(true);
    directory.close();
    expect(readdirSync(place.kept)).toEqual([]);
  });

  it("loses what processes left that were killed, and nothing of processes whose numbers mean something else here", () => {
    const first = open();
    first.write({ snapshot: "" });
    const [own = ""] = readdirSync(place.kept);
    const here = own.split("-")[0];
    // No process has this number, or can have it.
    const names = [`${here}-4194304-dead`, "0123456789ab-4194304-elsewhere", "0123456789ab-4194304-old", "4194304-old"];
    for (const name of names) {
      mkdirSync(join(place.kept, name));
      if (name.endsWith("old")) utimesSync(join(place.kept, name), long, long);
    }
    const second = open();
    second.write({ snapshot: "" });
    const left = readdirSync(place.kept).filter((name) => names.includes(name));
    expect(left).toEqual(["0123456789ab-4194304-elsewhere"]);
    expect(readdirSync(place.kept)).toContain(own);
    first.close();
    second.close();
  });
});

describe("what is no login shell of bash or zsh", () => {
  const place = useHome();
  it.each([
    [["/bin/sh", "-lc", "x"]],
    [["/bin/bash", "-c", "x"]],
    [["bash", "-lc", "x"]],
    [["/bin/bash", "-lc", "x", "y"]],
  ])("%j is left as it is", async (argv) => {
    const found = await place.snapshots().find({ ...place.command("", ""), argv });
    expect(found).toEqual({ kind: "login", reason: "snapshots are for `-lc` of bash and zsh" });
  });
});
