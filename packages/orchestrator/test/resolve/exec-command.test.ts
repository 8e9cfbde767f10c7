import { execCommandRequestSchema, type HostInfo } from "@codex/executor-protocol";
import { FORCED_ENVIRONMENT, type OrchestratorDefaults } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { resolveExecCommand } from "../../src/resolve/exec-command.js";
import { HOST } from "../support/executors.js";

interface Given {
  host?: HostInfo | undefined;
  turnCwd?: string;
  workspaceRoots?: string[];
  defaults?: OrchestratorDefaults;
  takesLimits?: boolean;
}

function resolve(args: Record<string, unknown>, given: Given = {}) {
  const host = "host" in given ? given.host : HOST;
  const config = resolveConfig(given.defaults);
  const { turnCwd, workspaceRoots, takesLimits = true } = given;
  return resolveExecCommand(args, { config, host, turnCwd, workspaceRoots, takesLimits });
}

function request(args: Record<string, unknown>, given?: Given) {
  const resolved = resolve(args, given);
  if (resolved.kind === "rejected") throw new Error(`${resolved.field}: ${resolved.problem}`);
  return resolved.value.request;
}

const problem = (args: Record<string, unknown>, given?: Given) => {
  const resolved = resolve(args, given);
  if (resolved.kind === "ok") throw new Error("expected a rejection");
  return `${resolved.field}: ${resolved.problem}`;
};

describe("request", () => {
  it("says what happens when memory is full only where that was chosen, and can be read", () => {
    const defaults: OrchestratorDefaults = { whenFull: "drop" };
    expect(request({ cmd: "ls" })).not.toHaveProperty("whenFull");
    expect(request({ cmd: "ls" }, { defaults })).toHaveProperty("whenFull", "drop");
    const base = request({ cmd: "ls", workdir: "/" }, { defaults, host: undefined });
    expect(base).not.toHaveProperty("whenFull");
  });

  it("is complete with every default, and fits the protocol", () => {
    const found = request({ cmd: "ls" });
    expect(found).toEqual({
      command: ["/bin/bash", "-lc", "ls"],
      cwd: "/srv/project",
      env: FORCED_ENVIRONMENT,
      envPolicy: { inherit: "all", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] },
      tty: false,
      yieldTimeMs: 10_000,
      maxOutputTokens: 10_000,
      sandboxPermissions: "use_default",
      additionalPermissions: null,
      additionalPermissionsPreapproved: false,
      justification: null,
    });
    const skip = { bypassSandbox: false, proposedExecPolicyAmendment: null };
    const whole = { ...found, execApprovalRequirement: { skip } };
    expect(execCommandRequestSchema.parse(whole)).toEqual(whole);
  });

  it("has only base fields for an executor that knows only those", () => {
    const found = request({ cmd: "ls", workdir: "/w" }, { host: undefined });
    expect(Object.keys(found)).toEqual([
      "command",
      "cwd",
      "env",
      "tty",
      "yieldTimeMs",
      "maxOutputTokens",
      "sandboxPermissions",
      "additionalPermissions",
      "additionalPermissionsPreapproved",
      "justification",
    ]);
    expect(found.command).toEqual(["/bin/sh", "-lc", "ls"]);
    expect(found.env).toEqual({
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      ...FORCED_ENVIRONMENT,
    });
  });

  it("takes an empty script, null for absent, and ignores unknown keys", () => {
    expect(request({ cmd: "", tty: null, workdir: null, shiny: 1 }).command[2]).toBe("");
  });

  it("passes on tty, stdin, a time limit and the justification", () => {
    const found = request({
      cmd: "x",
      tty: true,
      stdin: "open",
      timeout_ms: 5,
      until: "prompt",
      justification: "because",
    });
    expect(found).toMatchObject({ tty: true, stdin: "open", timeoutMs: 5, until: "prompt", justification: "because" });
  });
});

describe("forced environment", () => {
  it("is these variables", () => {
    expect(Object.entries(FORCED_ENVIRONMENT).map(([name, value]) => `${name}=${value}`)).toEqual([
      "NO_COLOR=1",
      "TERM=dumb",
      "LANG=C.UTF-8",
      "LC_CTYPE=C.UTF-8",
      "LC_ALL=C.UTF-8",
      "COLORTERM=",
      "PAGER=cat",
      "GIT_PAGER=cat",
      "GH_PAGER=cat",
      "CODEX_CI=1",
    ]);
  });

  it("drops a name that the configuration drops, and refuses one it does not have", () => {
    expect(request({ cmd: "x" }, { defaults: { dropForced: ["TERM"] } }).env).not.toHaveProperty("TERM");
    expect(() => resolveConfig({ dropForced: ["PATH"] })).toThrow(/dropForced names `PATH`.*NO_COLOR/);
  });

  it("goes over what the policy sets", () => {
    const defaults = { envPolicy: { set: { PAGER: "less", MINE: "1" } } };
    expect(request({ cmd: "x" }, { defaults }).envPolicy?.set).toEqual({ PAGER: "less", MINE: "1" });
    const base = request({ cmd: "x", workdir: "/w" }, { defaults, host: undefined });
    expect(base.env).toMatchObject({ PAGER: "cat", MINE: "1" });
  });
});

describe("shell", () => {
  it.each([
    [{ shell: "bash" }, ["/bin/bash", "-lc", "x"]],
    [{ shell: "sh" }, ["sh", "-lc", "x"]],
    [{ shell: "/opt/bin/zsh", login: false }, ["/opt/bin/zsh", "-c", "x"]],
    [{ shell: "" }, ["/bin/bash", "-lc", "x"]],
    [{ shell: "pwsh", login: false }, ["pwsh", "-NoProfile", "-Command", UTF8]],
    [{ shell: "C:\\Windows\\powershell.exe" }, ["C:\\Windows\\powershell.exe", "-Command", UTF8]],
    [{ shell: "cmd" }, ["cmd", "/c", "x"]],
  ])("%j", (args, argv) => expect(request({ cmd: "x", ...args }).command).toEqual(argv));

  it("is an error that names it when unknown", () => {
    expect(problem({ cmd: "x", shell: "/usr/bin/fish" })).toMatch(
      /^shell: unknown shell `\/usr\/bin\/fish`.*bash, zsh/,
    );
  });

  it("falls back to /bin/sh when the host's own is unknown here", () => {
    const host = { ...HOST, shell: { name: "fish", path: "/usr/bin/fish" } };
    expect(request({ cmd: "x" }, { host }).command[0]).toBe("/bin/sh");
  });

  it("allows a snapshot of the shell only for login shells, and only where that is configured", () => {
    const defaults = { shellSnapshot: true };
    expect(request({ cmd: "x" }, { defaults }).shellSnapshot).toBe(true);
    expect(request({ cmd: "x", login: false }, { defaults })).not.toHaveProperty("shellSnapshot");
    expect(request({ cmd: "x" })).not.toHaveProperty("shellSnapshot");
  });

  it("follows the configuration, which may forbid login shells", () => {
    expect(request({ cmd: "x" }, { defaults: { shell: "zsh", login: false } }).command).toEqual(["zsh", "-c", "x"]);
    const defaults = { allowLogin: false };
    expect(request({ cmd: "x" }, { defaults }).command[1]).toBe("-c");
    expect(problem({ cmd: "x", login: true }, { defaults })).toMatch(/^login: login shells are not allowed/);
  });
});

const UTF8 = "[Console]::OutputEncoding=[System.Text.Encoding]::UTF8;\nx";

describe("directory", () => {
  it.each([
    [{}, {}, "/srv/project"],
    [{}, { turnCwd: "/turn" }, "/turn"],
    [{ workdir: "" }, { turnCwd: "/turn" }, "/turn"],
    [{ workdir: "sub" }, { turnCwd: "/turn" }, "/turn/sub"],
    [{ workdir: "../up" }, { turnCwd: "/turn" }, "/up"],
    [{ workdir: "/abs" }, { turnCwd: "/turn" }, "/abs"],
    [{ workdir: "sub" }, { defaults: { cwd: "/conf" } }, "/conf/sub"],
    [{}, { host: { ...HOST, os: "win32", cwd: "C:\\p" } }, "C:\\p"],
    [{ workdir: "a" }, { host: { ...HOST, os: "win32", cwd: "C:\\p" } }, "C:\\p\\a"],
  ])("%j in %j", (args, given, cwd) => expect(request({ cmd: "x", ...args }, given).cwd).toBe(cwd));

  it("must be absolute where the executor does not tell its own", () => {
    expect(problem({ cmd: "x" }, { host: undefined })).toMatch(/^workdir: .*no `workdir` was given/);
    expect(problem({ cmd: "x", workdir: "" }, { host: undefined })).toMatch(/no `workdir` was given/);
    expect(problem({ cmd: "x", workdir: "a" }, { host: undefined })).toMatch(/`a` is relative/);
    expect(problem({ cmd: "x" }, { turnCwd: "turn" })).toMatch(/^cwd: .*`turn`, is not absolute/);
  });
});

describe("windows and budget", () => {
  const notices = (args: Record<string, unknown>, given?: Given) => {
    const resolved = resolve({ cmd: "x", ...args }, given);
    return resolved.kind === "ok" ? resolved.value.notices : [];
  };

  it.each([
    [0, 250],
    [250, 250],
    [1_000.4, 1_000],
    [30_000, 30_000],
    [60_000, 30_000],
  ])("%d ms becomes %d ms", (asked, effective) => {
    expect(request({ cmd: "x", yield_time_ms: asked }).yieldTimeMs).toBe(effective);
    const clamped = Math.round(asked) !== effective;
    const sentence = `yield_time_ms ${asked} ms is outside 250–30000 ms; ${effective} ms was used`;
    expect(notices({ yield_time_ms: asked })).toEqual(clamped ? [sentence] : []);
  });

  it("has bounds and defaults that can be configured", () => {
    const defaults = { windows: { execMaxMs: 120_000, execDefaultMs: 20_000 }, maxOutputTokensCap: 500 };
    expect(request({ cmd: "x", yield_time_ms: 60_000 }, { defaults })).toMatchObject({ yieldTimeMs: 60_000 });
    expect(request({ cmd: "x" }, { defaults })).toMatchObject({ yieldTimeMs: 20_000, maxOutputTokens: 500 });
    expect(request({ cmd: "x", max_output_tokens: 900 }, { defaults }).maxOutputTokens).toBe(500);
    expect(notices({ max_output_tokens: 900 }, { defaults })).toEqual([
      "max_output_tokens 900 tokens is outside 0–500 tokens; 500 tokens was used",
    ]);
  });

  it("refuses bounds that contradict each other", () => {
    expect(() => resolveConfig({ windows: { execMinMs: 9, execMaxMs: 8 } })).toThrow(/execMinMs 9 ms.*execMaxMs 8 ms/);
    expect(() => resolveConfig({ windows: { pollMaxMs: -1 } })).toThrow(/windows.pollMaxMs is -1; expected an integer/);
    expect(() => resolveConfig({ maxOutputTokens: 9, maxOutputTokensCap: 8 })).toThrow(/9 tokens is above/);
  });
});

describe("permissions", () => {
  const allowed = { allowAdditionalPermissions: true };
  const more = { cmd: "x", sandbox_permissions: "with_additional_permissions" };

  it("makes paths absolute, sorted and unique", () => {
    const additional_permissions = { file_system: { read: ["b", "/a", "b"], write: ["../c"] } };
    const found = request({ ...more, additional_permissions }, { defaults: allowed });
    expect(found.additionalPermissions).toEqual({
      file_system: { read: ["/a", "/srv/project/b"], write: ["/srv/c"] },
      network: { enabled: false },
    });
  });

  it.each([
    [{ ...more, additional_permissions: { network: { enabled: true } } }, {}, /^sandbox_permissions: .*not enabled/],
    [more, allowed, /^additional_permissions: nothing is requested/],
    [{ ...more, additional_permissions: { network: { enabled: false } } }, allowed, /nothing is requested/],
    [{ cmd: "x", additional_permissions: { network: { enabled: true } } }, allowed, /not allowed with .*"use_default"/],
    [{ cmd: "x", prefix_rule: ["git"] }, {}, /^prefix_rule: only allowed with/],
  ])("%j", (args, defaults, expected) => expect(problem(args, { defaults })).toMatch(expected));

  it("takes a prefix rule with an escalation, and empty ones as absent", () => {
    const args = { cmd: "x", sandbox_permissions: "require_escalated", prefix_rule: ["git", "pull"] };
    expect(resolve(args)).toMatchObject({ kind: "ok", value: { prefixRule: ["git", "pull"] } });
    expect(resolve({ cmd: "x", prefix_rule: [], additional_permissions: {} })).toMatchObject({ kind: "ok" });
  });
});

describe("arguments that do not fit", () => {
  it.each([
    [{}, "cmd: expected a string, got nothing"],
    [{ cmd: 7 }, "cmd: expected a string, got 7"],
    [{ cmd: "x", tty: "yes" }, 'tty: expected true or false, got "yes"'],
    [{ cmd: "x", yield_time_ms: -1 }, "yield_time_ms: expected at least 0, got -1"],
    [{ cmd: "x", stdin: "file" }, 'stdin: expected one of `null`, `open`, got "file"'],
    [{ cmd: "x", prefix_rule: ["a", 1] }, "prefix_rule[1]: expected a string, got 1"],
    [
      { cmd: "x", additional_permissions: { file_system: { read: [1] } } },
      "additional_permissions.file_system.read[0]: expected a string, got 1",
    ],
  ])("%j", (args, expected) => expect(problem(args)).toBe(expected));

  it.each([
    [{ cmdd: "ls" }, "there is no field `cmdd`; did you mean `cmd`?"],
    [{ command: "ls" }, "there is no field `command`; did you mean `cmd`?"],
    [{ tty: true, Cmd: "ls" }, "there is no field `Cmd`; did you mean `cmd`?"],
    [{ script: "ls" }, "there is no field `script`"],
    [{ ["x".repeat(100)]: 1 }, `there is no field \`${"x".repeat(60)}\``],
  ])("%j names what may be meant", (args, hint) => {
    expect(problem(args)).toBe(`cmd: expected a string, got nothing (${hint})`);
  });
});

describe("fields that are unknown", () => {
  const notices = (args: Record<string, unknown>) => {
    const resolved = resolve(args);
    return resolved.kind === "ok" ? resolved.value.notices : resolved.problem;
  };

  it.each([
    [{ yeild_time_ms: 500 }, ["there is no field `yeild_time_ms`, it was ignored; did you mean `yield_time_ms`?"]],
    [{ workDir: "/" }, ["there is no field `workDir`, it was ignored; did you mean `workdir`?"]],
    [{ timeout: 5 }, ["there is no field `timeout`, it was ignored; did you mean `timeout_ms`?"]],
    [{ enviroment_id: "a" }, ["there is no field `enviroment_id`, it was ignored; did you mean `environment_id`?"]],
    [{ "a\nb": 1 }, ["there is no field `a\\nb`, it was ignored"]],
    [{ environment_id: "a", tty: null, constructor: 1 }, ["there is no field `constructor`, it was ignored"]],
    [{ tty: true, ttty: true }, ["there is no field `ttty`, it was ignored"]],
  ])("%j are passed over, which is said", (args, expected) =>
    expect(notices({ cmd: "ls", ...args })).toEqual(expected),
  );

  it("are named up to a bound", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`q${index}`, 1]));
    expect(notices({ cmd: "ls", ...many })).toHaveLength(5);
  });
});

describe("the workspace", () => {
  const workspace = (args: Record<string, unknown>, given?: Given) => {
    const resolved = resolve(args, given);
    return resolved.kind === "ok" ? resolved.value.workspaceRoots : resolved.problem;
  };

  it("belongs to the turn, whatever directory the command names", () => {
    const cmd = { cmd: "x", workdir: "/etc" };
    expect(workspace(cmd, { turnCwd: "/srv/a/../b/" })).toEqual(["/srv/b"]);
    expect(workspace(cmd, { turnCwd: "/srv/b", workspaceRoots: ["/srv/b", "/opt/c/"] })).toEqual(["/srv/b", "/opt/c"]);
    expect(workspace(cmd, { defaults: { cwd: "/srv/d" } })).toEqual(["/srv/d"]);
    expect(workspace(cmd)).toBeUndefined();
    expect(workspace(cmd, { workspaceRoots: ["rel"] })).toMatch(/`rel` is not absolute/);
  });

  it("limits: a call can ask for less than the policy lets it use, and not for more", () => {
    const defaults: OrchestratorDefaults = { resourceLimits: { memory: 1000, processes: 10 } };
    expect(request({ cmd: "ls" })).not.toHaveProperty("limits");
    const { limits } = request({ cmd: "ls", limits: { memory: 2000, processes: 5, time: 60 } }, { defaults });
    expect(limits).toEqual({ memory: 1000, processes: 5, time: 60 });
    expect(problem({ cmd: "ls" }, { defaults, takesLimits: false })).toMatch(
      /^limits: this executor cannot hold limits/,
    );
    expect(problem({ cmd: "ls", limits: { memory: 0 } })).toMatch(/^limits/);
  });
});
