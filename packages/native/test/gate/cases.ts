import { fileURLToPath } from "node:url";
import type { ProgramReport } from "@codex/exec-gate";
import type { ShortRule } from "./support.js";

/** What a command does with programs, and what then happens. */
export interface Case {
  /** Of bash, in a directory of its own, `$WS`. `"$NODE" "$CALLER"` runs `programs/caller.cjs`. */
  script: string;
  rules: readonly ShortRule[];
  approved?: readonly (readonly string[])[];
  output: string | RegExp;
  /** Default 0. */
  code?: number;
  /** Words of what is reported. Default: nothing. */
  reported?: readonly (readonly string[])[];
  /** Of the first of them. Default: that a rule refused it. */
  as?: Partial<ProgramReport>;
  /** Programs of this host without which it cannot be shown. */
  needs?: readonly string[];
  /** Default: in a sandbox and without one. */
  place?: "sandbox" | "no sandbox";
  /** Default: also where callers cannot be traced. */
  tracedOnly?: boolean;
}

const isRoot = process.getuid?.() === 0;
const CALLER = fileURLToPath(new URL("./programs/caller.cjs", import.meta.url));
export const CASE_ENV = { CALLER, NODE: process.execPath };

const NO_ID: readonly ShortRule[] = [["refuse", "id"]];
const ID = [["id", "-u"]];
/** What bash makes of EPERM. */
const REFUSED = { rules: NO_ID, reported: ID, output: "126\n" };

export const CASES: Readonly<Record<string, Case>> = {
  // Which programs are judged.
  "what no rule names runs": { script: "echo hi; ls / >/dev/null; exit 3", rules: NO_ID, output: "hi\n", code: 3 },
  "with rules that allow nothing is refused": { script: "ls /; true", rules: [["allow", "x"]], output: /usr/ },
  "a refused program is not started": { ...REFUSED, script: "id -u", output: /Operation not permitted\n$/, code: 126 },
  "in shells within shells": { ...REFUSED, script: `bash -c "sh -c 'id -u'" 2>/dev/null; echo $?` },
  "by words that are put together": { ...REFUSED, script: `a=i; b=d; eval "$a$b -u" 2>/dev/null; echo $?` },
  "by a script that is decoded": { ...REFUSED, script: "echo aWQgLXUK | base64 -d | sh 2>/dev/null; echo $?" },
  "by its path": { ...REFUSED, script: "/usr/bin/id -u 2>/dev/null; echo $?", reported: [["/usr/bin/id", "-u"]] },
  "by a path below the directory": {
    ...REFUSED,
    script: "cd /usr; bin/id -u 2>/dev/null; echo $?",
    reported: [["bin/id", "-u"]],
  },
  "by a link": {
    ...REFUSED,
    script: "ln -s /usr/bin/id other; ./other -u 2>/dev/null; echo $?",
    reported: [["./other", "-u"]],
    as: { program: "/usr/bin/id" },
  },
  "by a search through PATH": { ...REFUSED, script: "env PATH=/nonexistent:/usr/bin id -u 2>/dev/null; echo $?" },
  "without an environment": {
    ...REFUSED,
    script: "env -i /usr/bin/id -u 2>/dev/null; echo $?",
    reported: [["/usr/bin/id", "-u"]],
  },
  "by find": { ...REFUSED, script: "touch a; find a -exec id -u \\; 2>/dev/null; echo $?", output: "0\n" },
  "by xargs": { ...REFUSED, script: "echo -u | xargs id 2>/dev/null; echo $?" },
  "by awk": { ...REFUSED, script: `awk 'BEGIN{system("id -u")}' 2>/dev/null; echo end`, output: "end\n" },
  "by perl": { ...REFUSED, script: "perl -e 'print system(qw(id -u)), qq(\\n)'", output: "-1\n", needs: ["perl"] },
  "by python": {
    ...REFUSED,
    script: `python3 -c 'import subprocess; subprocess.run(["id", "-u"])' 2>&1 | tail -1`,
    output: /PermissionError.*'id'/,
    needs: ["/usr/bin/python3"],
  },
  "by node": {
    ...REFUSED,
    script: `"$NODE" -e 'console.log(require("child_process").spawnSync("id", ["-u"]).error.code)'`,
    output: "EPERM\n",
  },
  "by a hook of git": {
    script:
      "git init -q .; printf '#!/bin/sh\\nid -u\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x 2>/dev/null; echo $?",
    rules: NO_ID,
    reported: ID,
    output: "1\n",
    needs: ["git"],
  },
  "by a program in a session of its own": {
    ...REFUSED,
    script: "setsid -w sh -c '(id -u; echo $?) 2>/dev/null & wait'",
  },
  "after its parent has ended": {
    ...REFUSED,
    script:
      "mkfifo p; (setsid sh -c '(while [ -e /proc/'$BASHPID' ]; do :; done; id -u; echo $? >p) 2>/dev/null &' &); cat p",
  },
  "several times in a row it is reported once": {
    ...REFUSED,
    script: "PATH=/usr/bin:/bin:/usr/bin dash -c 'id -u' 2>/dev/null; echo $?",
    output: /^12[67]\n$/,
    needs: ["dash"],
  },

  // What a program is.
  "who claims its name": {
    ...REFUSED,
    script: "(exec -a id true -u) 2>/dev/null; echo $?",
    as: { program: "/usr/bin/true" },
  },
  "by a descriptor": {
    ...REFUSED,
    script: "exec 9</usr/bin/id; /dev/fd/9 -u 2>/dev/null; echo $?",
    reported: [["/dev/fd/9", "-u"]],
  },
  "by a descriptor alone": {
    ...REFUSED,
    script: '"$NODE" "$CALLER" descriptor /usr/bin/id other -u',
    reported: [["other", "-u"]],
    output: "errno 1\n",
    code: 3,
  },
  "below an open directory": {
    ...REFUSED,
    script: '"$NODE" "$CALLER" relative /usr/bin id -u',
    output: "errno 1\n",
    code: 3,
  },
  "a file without a name, by the name that it claims": {
    ...REFUSED,
    script: '"$NODE" "$CALLER" memory /usr/bin/id id -u',
    output: "errno 1\n",
    code: 3,
  },
  "a file without a name and with another is another program": {
    script: '"$NODE" "$CALLER" memory /usr/bin/id other -u >/dev/null; echo $?',
    rules: NO_ID,
    output: "0\n",
  },
  "through the root of the caller": {
    ...REFUSED,
    script: "/proc/self/root/usr/bin/id -u 2>/dev/null; echo $?",
    reported: [["/proc/self/root/usr/bin/id", "-u"]],
  },
  "through its directory": {
    ...REFUSED,
    script: "cd /usr; /proc/self/cwd/bin/id -u 2>/dev/null; echo $?",
    reported: [["/proc/self/cwd/bin/id", "-u"]],
  },
  "through a link to its root": {
    ...REFUSED,
    script: "ln -s /proc/self/root/usr/bin/id other; ./other -u >o 2>/dev/null; echo $? $(cat o)",
    reported: [["./other", "-u"]],
    output: /137\n$/,
    as: { decision: "killed" },
    tracedOnly: true,
  },
  "through the root of another process": {
    ...REFUSED,
    script: "ln -s /proc/$$/root/usr/bin/id other; ./other -u >o 2>/dev/null; echo $? $(cat o)",
    reported: [["./other", "-u"]],
    output: /137\n$/,
    as: { decision: "killed" },
    tracedOnly: true,
  },
  "another program, through the root of another process": {
    script: "/proc/$$/root/usr/bin/echo ran",
    rules: NO_ID,
    output: "ran\n",
    tracedOnly: true,
  },
  "a program by its own link": {
    script:
      "\"$NODE\" -e 'require(`child_process`).execFileSync(`/proc/self/exe`, [`-e`, `console.log(1)`], {stdio: `inherit`})'",
    rules: NO_ID,
    output: "1\n",
  },
  "by the loader": {
    ...REFUSED,
    script: "$LOADER /usr/bin/id -u 2>/dev/null; echo $?",
    reported: [["$LOADER", "/usr/bin/id", "-u"]],
  },
  "an interpreter, by its script": {
    script: "printf '#!/bin/sh\\necho ran\\n' >s; chmod +x s; ./s x 2>/dev/null; echo $?",
    rules: [["refuse", "sh"]],
    reported: [["./s", "x"]],
    output: "126\n",
  },
  "an interpreter, by a script of a script": {
    script: "printf '#!/bin/sh\\necho ran\\n' >s; printf '#!%s/s x\\n' $WS >t; chmod +x s t; ./t 2>/dev/null; echo $?",
    rules: [["refuse", "sh"]],
    reported: [["./t"]],
    output: /137\n$/,
    as: { decision: "killed" },
    tracedOnly: true,
  },
  "a script by its name": {
    script: "printf '#!/bin/sh\\necho ran $1\\n' >s; chmod +x s; ./s a; ./s b 2>/dev/null; echo $?",
    rules: [["refuse", "s", "b"]],
    reported: [["./s", "b"]],
    output: "ran a\n126\n",
  },
  "a script with an argument for its interpreter": {
    script: "printf '#!/bin/bash -e  \\necho $0 $1\\n' >s; chmod +x s; ./s a; PATH=. s b",
    rules: NO_ID,
    output: "./s a\n./s b\n",
  },
  "a script by a descriptor": {
    script: "printf '#!/bin/bash\\necho ran $1\\n' >s; chmod +x s; exec 9<s; /dev/fd/9 a",
    rules: NO_ID,
    output: "ran a\n",
  },
  "a script of env": {
    script: "printf '#!/usr/bin/env bash\\necho ran\\n' >s; chmod +x s; ./s",
    rules: NO_ID,
    output: "ran\n",
  },
  "a script without an interpreter": { script: "echo 'echo ran' >s; chmod +x s; ./s", rules: NO_ID, output: "ran\n" },

  // Rules.
  "the strictest rule decides": {
    script: "touch a; touch b 2>/dev/null; echo $?; ls",
    rules: [
      ["allow", "ls"],
      ["allow", "touch"],
      ["refuse", "touch", "b"],
    ],
    reported: [["touch", "b"]],
    as: { decision: "refused", reason: "rule", rule: "r2" },
    place: "no sandbox",
    output: "126\na\n",
  },
  "what is asked about is refused": {
    ...REFUSED,
    script: "id -u 2>/dev/null; echo $?",
    rules: [["ask", "id"]],
    as: { reason: "unasked" },
  },
  "what was approved is not": {
    script: "id -u >/dev/null; echo $?; id -g 2>/dev/null; echo $?",
    rules: [["ask", "id"]],
    approved: [["id", "-u"]],
    reported: [["id", "-g"]],
    as: { reason: "unasked" },
    output: "0\n126\n",
  },
  "a program of the command's own is not one that a rule allows": {
    script: "printf '#!/bin/sh\\necho poisoned\\n' >touch; chmod +x touch; PATH=$WS:$PATH; touch f",
    rules: [["allow", "touch"]],
    output: "poisoned\n",
  },

  // The kernel's own failures stay what they are.
  "a missing program": {
    script: "/usr/bin/nosuch 2>/dev/null; nosuch 2>/dev/null; echo $?",
    rules: NO_ID,
    output: "127\n",
  },
  "a missing interpreter": {
    script: "printf '#!/nosuch\\n' >s; chmod +x s; ./s 2>/dev/null; echo $?",
    rules: NO_ID,
    output: /^12[67]\n$/,
  },
  "a dangling link": {
    script: "ln -s nosuch s; ./s 2>/dev/null; echo $?",
    rules: NO_ID,
    output: "127\n",
    tracedOnly: true,
  },
  "a file that is no program": { script: "echo x >f; ./f 2>/dev/null; echo $?", rules: NO_ID, output: "126\n" },
  "a directory": { script: "./ 2>/dev/null; echo $?", rules: NO_ID, output: "126\n" },
  "a bad descriptor": { script: '"$NODE" "$CALLER" bad-descriptor x x', rules: NO_ID, output: "errno 9\n", code: 3 },
  "a bad address": { script: '"$NODE" "$CALLER" bad-pointer x x', rules: NO_ID, output: "errno 14\n", code: 3 },
  "too many words": {
    script: `"$NODE" -e 'console.log(require("child_process").spawnSync("true", Array(60).fill("x".repeat(120000))).error.code)'`,
    rules: NO_ID,
    output: "E2BIG\n",
  },
  "a path that is too long": {
    script: `p=$(printf '/x%.0s' {1..3000}); $p 2>&1 | grep -o 'File name too long'`,
    rules: NO_ID,
    output: "File name too long\n",
  },

  // Unusual callers.
  "no words": { script: '"$NODE" "$CALLER" no-words /usr/bin/true; echo $?', rules: NO_ID, output: "0\n" },
  "many words": {
    script: "seq 1 3000 | xargs echo | wc -w; seq 1 9000 | xargs -n 9000 echo | wc -w",
    rules: NO_ID,
    output: "3000\n9000\n",
  },
  "words that are no text": {
    script: "printf '%s' $'a\\377\\376' | xargs printf '%s' | od -An -tx1",
    rules: NO_ID,
    output: " 61 ff fe\n",
  },
  "a thread that is not the first": {
    script: '"$NODE" "$CALLER" thread /usr/bin/printf printf ran; "$NODE" "$CALLER" thread /usr/bin/id id -u',
    rules: NO_ID,
    reported: ID,
    output: "ranerrno 1\n",
  },
  "a filter of its own does not weaken the gate": {
    script: '"$NODE" "$CALLER" filter /usr/bin/id id -u',
    rules: NO_ID,
    reported: ID,
    output: "errno 1\n",
    code: 3,
  },
  "there is no gate within a gate": {
    script: '"$NODE" "$CALLER" listener /usr/bin/echo echo ran',
    rules: NO_ID,
    output: "errno 16\nran\n",
  },
  "what may not be read by its user": {
    script: "cp /bin/true f; chmod 111 f; ./f; echo $?",
    rules: NO_ID,
    output: "0\n",
    ...(isRoot ? {} : { place: "sandbox" as const }),
  },
  ...(isRoot
    ? {}
    : {
        "what may not be read by its user, and so cannot be compared": {
          script: "cp /bin/true f; chmod 111 f; ./f; echo $?",
          rules: NO_ID,
          output: /Killed[^\n]*\n137\n$/,
          place: "no sandbox" as const,
          tracedOnly: true,
          reported: [["./f"]],
          as: { decision: "killed", reason: "unverified" } as const,
        },
      }),
};
