import { describe, expect, it } from "vitest";
import { readHooks } from "../src/node/definitions.js";

const place = { file: "/home/me/.codex/hooks.json" };
const command = (command: string, more: object = {}) => ({ hooks: [{ type: "command", command, ...more }] });

describe("the key and the hash of a hook", () => {
  // Recorded from `hooks/list` of Codex 0.169.0.
  const LIMITED = { commandWindows: "win", environmentId: "local", additionalContextLimit: 77, unknown: 1 };
  it.each([
    ["PreToolUse", "pre_tool_use", "6a1ac2a8919b1417e6c9199b629457518705eb980cc031d6b73786c6386159c9"],
    ["PermissionRequest", "permission_request", "910f148310057b4e1295e1c6cfa629a3306016ab098051deeaf1caa604db1e50"],
    ["PostToolUse", "post_tool_use", "ad3149f6b757ab188395ea441d8e72b5b3adc0e87a1f6339580ca7498d1dc139"],
    ["PreCompact", "pre_compact", "645191ff7b9b53461329feee07136fc2aaba2e52722552762f4429466d0ddaba"],
    ["PostCompact", "post_compact", "2e4105b3c84d5c336c49d17996ad3d13065b1b28370bf0bdc675eefa794d2879"],
    ["SessionStart", "session_start", "f58c27594dab2e8dc6abf61e64b3e0280ac02578c627299c92501bf2e99edc5a"],
    ["SessionEnd", "session_end", "68968d7d12a4444bdb8991d93dc48c63a533e093751a4a11ac76dc798b04e863"],
    ["UserPromptSubmit", "user_prompt_submit", "5e3c01663170bf2a6c78143ba62df1d3a268de49eff52bf1a6adf35078533e8b"],
    ["SubagentStart", "subagent_start", "ec74ebadf5cbb79c65ecc68e0be0cc970688c97a3154a1548392a36deee5bfdb"],
    ["SubagentStop", "subagent_stop", "20c92f25a24985bb856559c143d244305cc5809ecb08b6f1f31c488df1b08633"],
    ["Stop", "stop", "7773e56566e95134864bef4b6cd2d68e86a6321cbd95c91839a8bf57958fd74a"],
    ["Interrupt", "interrupt", "e267be66a406f8e0d639a8e26c32750c665ae169716d5eec2f84ad49e3659d58"],
  ])("are those of Codex, in which what does not count at %s is left out", (event, label, hash) => {
    const events = { [event]: [{ matcher: "a.*", ...command(`echo ${event}`, LIMITED) }] };
    const [hook] = readHooks(events, place).hooks;
    expect(hook).toMatchObject({ event, key: `${place.file}:${label}:0:0`, hash: `sha256:${hash}` });
  });

  it.each([
    [
      "PreToolUse",
      { matcher: "^Bash$", ...command("echo hi", { timeout: 5, statusMessage: "checking" }) },
      "8f502d976fefc3cd9c61b15c4b3a8dd68ae1052c605b4b53d8fcd4c989db60fc",
    ],
    [
      "PreToolUse",
      { matcher: "^Bash$", ...command("echo two") },
      "6c19e3a963ef1737e1f5b3fe6ac99ce4203b3b566ca7c04f6c44f2f0f7aad50a",
    ],
    ["Stop", command("echo stop", { async: true }), "15ef4f26bc8f6b43c1e00904949feba5dfe0587e2ee2bdb93017aab285582f31"],
    [
      "PreToolUse",
      command("echo zero", { timeout: 0 }),
      "253ebf2a31af164055340054d7a702ff75fe8e9e6d625ccd0e352c36e9a2d323",
    ],
  ])("are those of Codex for each option: %s %j", (event, group, hash) => {
    expect(readHooks({ [event]: [group] }, place).hooks.map((hook) => hook.hash)).toEqual([`sha256:${hash}`]);
  });
});

it("hooks are numbered by their groups, and within them", () => {
  const { hooks } = readHooks(
    { Stop: [{ hooks: [] }, { hooks: [...command("a").hooks, ...command("b").hooks] }] },
    place,
  );
  expect(hooks.map(({ key }) => key.replace(place.file, ""))).toEqual([":stop:1:0", ":stop:1:1"]);
});

it("the defaults of time limits are those of Codex, and one of 0 is a second", () => {
  const { hooks } = readHooks(
    { Stop: [command("a"), command("b", { timeout: 0 })], Interrupt: [command("c")], SessionEnd: [command("d")] },
    place,
  );
  expect(hooks.map(({ command: name, timeoutMs }) => [name, timeoutMs])).toEqual([
    ["a", 600_000],
    ["b", 1_000],
    ["c", 1_000],
    ["d", 1_000],
  ]);
});
