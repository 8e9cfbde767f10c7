import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { OutsideProfile, ProgramReport } from "@codex/exec-gate";
import { afterAll, describe, expect, it } from "vitest";
import { BWRAP, isGateLikely, type Ran, type ShortRule, useGate } from "./support.js";

/** What runs outside is machine code of this architecture. */
const canLeave = isGateLikely && BWRAP !== undefined && process.arch === "x64";

interface Case {
  script: string;
  allow: readonly (readonly string[])[];
  refuse?: readonly (readonly string[])[];
  output: string | RegExp;
  code?: number;
  /** Of each report: its last word, and what became of it. Default: each allowed program ran outside. */
  reported: readonly string[];
  /** Files that exist in `$OUT` afterwards. */
  exists?: readonly string[];
  profile?: OutsideProfile;
  needs?: readonly string[];
}

const PYTHON = "/usr/bin/python3";

const CASES: Readonly<Record<string, Case>> = {
  "writes where its sandbox cannot": {
    script: "touch $OUT/f && echo ok",
    allow: [["touch"]],
    output: "ok\n",
    reported: ["touch outside 0"],
    exists: ["f"],
  },
  "is called by dash": {
    script: "dash -c 'touch $OUT/f; echo $?'",
    allow: [["touch"]],
    output: "0\n",
    reported: ["touch outside 0"],
    exists: ["f"],
    needs: ["/usr/bin/dash"],
  },
  "is called by python, which waits for the start": {
    script: `${PYTHON} -c 'import subprocess,os; print(subprocess.run(["touch", os.environ["OUT"]+"/f"]).returncode)'`,
    allow: [["touch"]],
    output: "0\n",
    reported: ["touch outside 0"],
    exists: ["f"],
    needs: [PYTHON],
  },
  "passes a mebibyte in and out": {
    script: `${PYTHON} -c 'import subprocess; r=subprocess.run(["cat"],input=b"x"*1048576,capture_output=True); print(len(r.stdout), r.returncode)'`,
    allow: [["cat"]],
    output: "1048576 0\n",
    reported: ["cat outside 0"],
    needs: [PYTHON],
  },
  "replaces its caller": {
    script: "exec touch $OUT/f",
    allow: [["touch"]],
    output: "",
    reported: ["touch outside 0"],
    exists: ["f"],
  },
  "ends with its exit code": {
    script: "false; echo $?",
    allow: [["/usr/bin/false"], ["false"]],
    output: "1\n",
    reported: [],
  },
  "ends in the background with its exit code": {
    script: "sleep 0.1 & wait $!; echo $?; /bin/false & wait $!; echo $?",
    allow: [["sleep"], ["false"]],
    output: "0\n1\n",
    reported: ["sleep outside 0", "/bin/false outside 1"],
  },
  "ends by its signal": {
    script: `${PYTHON} -c 'import subprocess; print(subprocess.run(["sh","-c","kill -TERM $$"]).returncode)'`,
    allow: [["sh"]],
    output: "-15\n",
    reported: ["sh outside 143"],
    needs: [PYTHON],
  },
  "is part of a pipeline": {
    script: "echo hi | cat | tr h H",
    allow: [["cat"]],
    output: "Hi\n",
    reported: ["cat outside 0"],
  },
  "reads the descriptors of its caller": {
    script: "cat <(echo a) <(echo b)",
    allow: [["cat"]],
    output: "a\nb\n",
    reported: ["cat outside 0"],
  },
  "does not get what its caller would close": {
    script: `${PYTHON} -c 'import os,subprocess; r,w=os.pipe(); print(subprocess.run(["ls","/proc/self/fd"],capture_output=True,text=True,close_fds=False).stdout.split())'`,
    allow: [["ls"]],
    output: "['0', '1', '2', '3']\n",
    reported: ["ls outside 0"],
    needs: [PYTHON],
  },
  "runs in the directory of its caller": {
    script: "mkdir d; cd d; /bin/pwd | sed s,$WS,WS,",
    allow: [["pwd"]],
    output: "WS/d\n",
    reported: ["/bin/pwd outside 0"],
  },
  "has the umask of its caller": {
    script: "umask 077; touch $OUT/f; stat -c %a $OUT/f",
    allow: [["touch"]],
    output: "600\n",
    reported: ["touch outside 0"],
    exists: ["f"],
  },
  "gets 3,000 arguments": {
    script: "echo $(seq 1 3000) | xargs echo | wc -w",
    allow: [["echo"]],
    output: "3000\n",
    reported: ["echo outside 0"],
  },
  "gets 9,000 arguments": {
    script: "env echo $(seq 1 9000) | wc -w",
    allow: [["echo"]],
    output: "9000\n",
    reported: ["echo outside 0"],
  },
  "gets arguments that are no text": {
    script: `touch "$OUT/$(printf 'a\\377\\376')"; ls $OUT | od -An -tx1 | head -1`,
    allow: [["touch"]],
    output: " 61 ff fe 0a\n",
    reported: ["touch outside 0"],
  },
  "gets none of the variables that choose code and files": {
    script: "LD_PRELOAD=/nonexistent/evil.so GIT_DIR=x LANG=C env | grep -c -e LD_PRELOAD -e GIT_DIR; true",
    allow: [["env"]],
    output: "0\n",
    reported: ["env outside 0 without GIT_DIR,LD_PRELOAD"],
  },
  "stops and goes on with its caller": {
    script:
      "sleep 0.6 & p=$!; command sleep 0.2; kill -STOP $p; command sleep 0.9; kill -0 $p && echo alive; kill -CONT $p; wait $p; echo $?",
    allow: [["sleep", "0.6"]],
    output: "alive\n0\n",
    reported: ["sleep outside 0"],
  },
  "inside, in a directory that is another one outside": {
    script: "cd /dev/shm; touch f; ls /dev/shm",
    allow: [["touch"]],
    output: "f\n",
    reported: ["touch inside its directory is another one outside"],
  },
  "inside, where the caller has no free descriptor": {
    script:
      "ulimit -n 10; exec 9</dev/null 8</dev/null 7</dev/null 6</dev/null 5</dev/null 4</dev/null 3</dev/null; touch $OUT/f; echo $?",
    allow: [["touch"]],
    output: /127\n$/,
    reported: ["touch inside its process has no free descriptor"],
  },
  "not another program of its name": {
    script: "printf '#!/bin/sh\\necho poisoned\\n' >touch; chmod +x touch; PATH=$PWD:$PATH; touch $OUT/f",
    allow: [["touch"]],
    output: "poisoned\n",
    reported: [],
  },
  "not a program that claims its name": {
    script: "(exec -a touch chmod 600 $OUT) 2>/dev/null; echo $?",
    allow: [["touch"]],
    output: "1\n",
    reported: [],
  },
  "starts others that are not judged, where its profile is unrestricted": {
    script: "sh -c 'id -u >/dev/null; echo $?'",
    allow: [["sh"]],
    refuse: [["id"]],
    output: "0\n",
    reported: ["sh outside 0"],
  },
  "starts others that are judged, in another sandbox": {
    script: "sh -c 'id -u 2>/dev/null; echo $?; touch $OUT/f'",
    allow: [["sh"], ["touch"]],
    refuse: [["id"]],
    output: "126\n",
    reported: ["id refused", "sh outside 0"],
    exists: ["f"],
    profile: { write: ["$OUT"] },
  },
  "writes what its profile adds, and nothing else": {
    script: "touch $OUT/f; echo $?; touch $OUT/../not 2>/dev/null; echo $?",
    allow: [["touch"]],
    output: "0\n1\n",
    reported: ["touch outside 0", "touch outside 1"],
    exists: ["f"],
    profile: { write: ["$OUT"] },
  },
  "reads the descriptors of its caller in another sandbox": {
    script: "cat <(echo a) 3<&0 9</dev/null <(echo b); echo x | cat",
    allow: [["cat"]],
    output: "a\nb\nx\n",
    reported: ["cat outside 0", "cat outside 0"],
    profile: { write: ["$OUT"] },
  },
};

describe.runIf(canLeave)("a program outside of its sandbox", () => {
  const gate = useGate();
  const directories: string[] = [];
  afterAll(() => {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  const run = async ({
    script,
    allow,
    refuse = [],
    profile = "unrestricted",
  }: Case): Promise<Ran & { out: string }> => {
    const out = realpathSync(mkdtempSync(join(tmpdir(), "codex-outside-")));
    directories.push(out);
    const rules: ShortRule[] = [
      ...allow.map((words) => ["allow", ...words] as const),
      ...refuse.map((words) => ["refuse", ...words] as const),
    ];
    const inOut = (path: string) => path.replace("$OUT", out);
    const there = typeof profile === "string" ? profile : { write: profile.write.map(inOut) };
    const ran = await gate.run({ script, rules, isSandboxed: true, env: { OUT: out }, profile: there });
    return { ...ran, out };
  };
  for (const [name, each] of Object.entries(CASES)) {
    (each.needs ?? []).every((path) => existsSync(path))
      ? it.concurrent(name, async () => {
          const { status, output, reports, out } = await run(each);
          const seen = { status, output, reported: reports.map(describeReport).sort() };
          const expected = typeof each.output === "string" ? each.output : expect.stringMatching(each.output);
          expect(seen).toEqual({
            status: { code: each.code ?? 0 },
            output: expected,
            reported: [...each.reported].sort(),
          });
          for (const file of each.exists ?? []) expect(statSync(join(out, file)).isFile()).toBe(true);
        })
      : it.skip(name);
  }

  it("ends with the process that has called it", async () => {
    const script = `sh -c 'echo $$ >$OUT/pid; exec sleep 99' &
      until [ -s $OUT/pid ]; do sleep 0.01; done; kill -KILL $!; wait $! 2>/dev/null; echo $?`;
    const { output, out } = await run({ script, allow: [["sh"]], output: "", reported: [] });
    expect(output).toBe("137\n");
    const pid = Number(readFileSync(join(out, "pid"), "latin1"));
    await untilGone(pid);
  });

  it("leaves no descriptor open", async () => {
    await run({ script: "touch $OUT/f", allow: [["touch"]], output: "", reported: [] });
    const before = readdirSync("/proc/self/fd").length;
    for (let times = 0; times < 5; times += 1) {
      await run({ script: "for i in 1 2 3 4; do touch $OUT/f; done", allow: [["touch"]], output: "", reported: [] });
    }
    // Pipes of the last programs may still be about to close.
    while (readdirSync("/proc/self/fd").length > before) await setTimeout(5);
  });
});

function describeReport({ argv, decision, exitCode, detail, droppedVariables }: ProgramReport): string {
  const without = droppedVariables === undefined ? undefined : `without ${[...droppedVariables].sort().join()}`;
  return [argv[0], decision, exitCode, detail, without].filter((part) => part !== undefined).join(" ");
}

async function untilGone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await setTimeout(5);
}
