import type { Orchestrator } from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { parseRulePolicy } from "@codex/policy";

/** One call of a face test. */
export interface FaceStep {
  tool: string;
  /** `session`: the id in the text of the step before. */
  args: (session: number) => Record<string, unknown>;
  /** What the text has to contain. */
  expected: readonly RegExp[];
  isError?: boolean;
  /** Done once the call has had output, while it is in progress. */
  meanwhile?: (orchestrator: Orchestrator) => Promise<unknown>;
}

/** A command, and its expected result in every face. */
export interface FaceCase {
  name: string;
  /** Default: everything runs, without a sandbox. */
  policy?: PolicyOptions;
  steps: readonly FaceStep[];
}

const exec = (cmd: string, expected: readonly RegExp[], more: Record<string, unknown> = {}): FaceStep => ({
  tool: "exec_command",
  args: () => ({ cmd, shell: "/bin/sh", login: false, ...more }),
  expected,
});

const write = (args: Record<string, unknown>, expected: readonly RegExp[]): FaceStep => ({
  tool: "write_stdin",
  args: (session) => ({ session_id: session, ...args }),
  expected,
});

const forbidding = parseRulePolicy([
  { file: "face-kit.rules", text: 'prefix_rule(pattern=["touch"], decision="forbidden")' },
]);
const RUNS = /^Process running with session ID \d+$/m;

/** The twelve commands. They run with `sh` and the usual tools of POSIX hosts, and leave nothing behind. */
export const FACE_CASES: readonly FaceCase[] = [
  {
    name: "exit codes",
    steps: [
      exec("printf 'hello\\n'", [/^Process exited with code 0$/m, /hello\n$/]),
      exec("echo out; echo err >&2; exit 3", [/^Process exited with code 3$/m, /out/, /err/]),
    ],
  },
  { name: "a signal", steps: [exec("kill -9 $$", [/SIGKILL/])] },
  {
    name: "a start that fails",
    steps: [{ ...exec("true", [/no-such-directory/], { workdir: "/no-such-directory" }), isError: true }],
  },
  {
    name: "a command that is forbidden",
    policy: { approvalPolicy: "never", sandbox: "danger-full-access", rules: forbidding },
    steps: [{ ...exec("touch /never", [/forbidden/, /Nothing was run/]), isError: true }],
  },
  {
    name: "a command that is not approved",
    policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    steps: [{ ...exec("touch /never", [/not approved/, /Nothing was run/]), isError: true }],
  },
  {
    name: "a flood with a gap",
    steps: [
      exec("head -c 20000000 /dev/zero | tr '\\0' a; echo the end", [/the end/, /are gone/], {
        yield_time_ms: 30_000,
      }),
    ],
  },
  {
    name: "control bytes, and bytes that are no text",
    steps: [exec("printf 'ä€😀\\033[31mred\\033[0m\\001\\377\\r\\n\\tend'", [/ä€😀/, /red/, /\tend$/])],
  },
  {
    name: "a dialogue over stdin",
    steps: [
      exec("read line; echo got $line; cat >/dev/null", [RUNS], { stdin: "open", until: "output", yield_time_ms: 250 }),
      write({ chars: "ünï\n", until: "output" }, [/got ünï/]),
      write({ close_stdin: true, yield_time_ms: 10_000 }, [/^Process exited with code 0$/m]),
    ],
  },
  {
    name: "a command that outlives its window, and is ended",
    steps: [
      exec("echo begun; sleep 1000", [RUNS, /begun/], { until: "output", yield_time_ms: 250 }),
      write({ signal: "terminate", yield_time_ms: 10_000 }, [/SIGTERM/]),
    ],
  },
  {
    name: "a directory and the environment",
    steps: [exec("pwd; echo $CODEX_CI; exit 4", [/^\/$/m, /^1$/m, /code 4/], { workdir: "/" })],
  },
  {
    name: "output that is cut",
    steps: [
      exec(
        "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done",
        [/line 0\n/, /line 3999/, /tokens truncated/],
        {
          max_output_tokens: 100,
        },
      ),
    ],
  },
  {
    name: "an executor that is lost",
    steps: [
      {
        ...exec("echo begun; sleep 1000", [/unknown/], { yield_time_ms: 30_000 }),
        isError: true,
        meanwhile: async (orchestrator) =>
          Promise.all(orchestrator.executors.map(({ name }) => orchestrator.detach(name))),
      },
    ],
  },
];

/** Made by the first step of each case, and removed by its last. */
const DIRECTORY = `/tmp/codex-face-kit-${crypto.randomUUID()}`;
const begin = exec(`mkdir -p ${DIRECTORY} && printf 'one\\ntwo\\n' > ${DIRECTORY}/a.txt`, [/code 0/]);
const end = exec(`rm -r ${DIRECTORY}`, [/code 0/]);

const file = (tool: string, args: Record<string, unknown>, expected: readonly RegExp[], isError = false): FaceStep => ({
  tool,
  args: () => args,
  expected,
  isError,
});

const PATCH = `*** Begin Patch
*** Add File: ${DIRECTORY}/below/new.txt
+new
*** Update File: ${DIRECTORY}/a.txt
@@
-two
+zwei
*** End Patch`;
const APPLIED = [/^Success\. Updated the following files:$/m, /^A .*new\.txt$/m, /^M .*a\.txt$/m];

/** A PNG of one pixel, base64. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The tools for files, which an orchestrator with `connectFiles` offers beside those of executors. */
export const FILE_FACE_CASES: readonly FaceCase[] = [
  {
    name: "a patch",
    steps: [
      begin,
      file("apply_patch", { input: PATCH }, APPLIED),
      exec(`cat ${DIRECTORY}/*.txt`, [/one\nzwei\n/]),
      end,
    ],
  },
  {
    name: "a script that is a patch",
    steps: [
      begin,
      exec(`apply_patch <<'EOF'\n${PATCH}\nEOF`, [/^Wall time: /, ...APPLIED]),
      exec(`cat ${DIRECTORY}/below/new.txt`, [/new\n/]),
      end,
    ],
  },
  {
    name: "a patch that does not match",
    steps: [
      begin,
      file("apply_patch", { input: PATCH.replace("-two", "-three") }, [/three/], true),
      exec(`cat ${DIRECTORY}/a.txt`, [/one\ntwo\n/]),
      end,
    ],
  },
  {
    name: "a patch that is not approved",
    policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    steps: [
      file(
        "apply_patch",
        { input: `*** Begin Patch\n*** Add File: ${DIRECTORY}/never\n+x\n*** End Patch` },
        [/The patch was not approved/, /Nothing was changed/],
        true,
      ),
    ],
  },
  {
    name: "a picture",
    steps: [
      begin,
      exec(`printf ${PIXEL} | base64 -d > ${DIRECTORY}/a.png`, [/code 0/]),
      file("view_image", { path: `${DIRECTORY}/a.png` }, [/^The picture .*a\.png \(image\/png, 70 bytes\)\.$/]),
      file("view_image", { path: `${DIRECTORY}/a.txt` }, [/is not an image/], true),
      end,
    ],
  },
  {
    name: "a listing, and lines",
    steps: [
      begin,
      file("list_dir", { path: DIRECTORY }, [/^Absolute path: .*face-kit-/, /^a\.txt$/m]),
      file("read_file", { path: `${DIRECTORY}/a.txt`, offset: 2 }, [/^L2: two$/]),
      file("read_file", { path: `${DIRECTORY}/none` }, [/does not exist/], true),
      end,
    ],
  },
];
