import { describe, expect, it } from "vitest";
import { findUrlProblem, isLoopback } from "../../src/config/ws-url.js";
import { readSshUrl } from "../../src/index.js";

// Tried on Codex 0.169.0.
const ACCEPTED = [
  ...[
    "h",
    "h:",
    "h:abc",
    ":80",
    "[::1]x",
    "[zz]:1",
    "a[b]",
    "[]",
    "[]:1",
    "%5B@[::1]",
    "[::1%25lo]",
    "[::1]@h",
    "%41@h",
  ],
  ...[
    "@h",
    "u:@h",
    "u@v@h",
    "h_x",
    "h,x",
    "h;x",
    "h~",
    "a!b",
    "a$&'()*+=b",
    ".",
    "-",
    "..",
    "h:99999999",
    "[1:2:3:4:5:6:7:8]:9",
  ],
  ...[
    'h/"',
    "h/{}",
    "h/|",
    "h/\\",
    "h/ü",
    "h/?ü",
    "h?{}",
    "h?^`|\\",
    "h#",
    "h#a b<>",
    "h/%",
    "h/\x7f",
    "h/?\x7f",
    "h/#\x85",
  ],
];
const REFUSED = [
  ...[
    "",
    "/x",
    "?x",
    "#x",
    "h:1:2",
    "[::1",
    "::1",
    "h]",
    "[a][b]",
    "[1:2:3:4:5:6:7:8:9:10]:9",
    "1:2:3:4:5:6:7:8:9:10@h",
  ],
  ...["u@", "u@/x", "h%41", "ü/", "h\\x", "h\x7f", "h/a b", "h/<", "h/>", "h/^`", "h?<", "h?a b", 'h?"'],
];

describe("a websocket URL", () => {
  it.each(ACCEPTED)("may be ws://%s", (rest) => {
    expect([findUrlProblem(`ws://${rest}`), findUrlProblem(`wss://${rest}`)]).toEqual([undefined, undefined]);
  });
  it.each([...REFUSED.map((rest) => `ws://${rest}`), "WS://h", "ws:/h", "ws:h", "wsx://h", "http://h", "h"])(
    "cannot be %s",
    (url) => {
      expect(findUrlProblem(url)).toEqual(expect.any(String));
    },
  );
  it.each([
    "localhost",
    "LocalHost:1",
    "127.255.1.2",
    "127.1",
    "0x7f.0.0.1",
    "[::1]",
    "[::0001]",
    "u@localhost",
    "127.0.0.1.",
  ])("stays on this host at %s", (host) => {
    expect(isLoopback(`ws://${host}/x`)).toBe(true);
  });
  it.each([
    "localhost.",
    "localhost@h",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "0.0.0.0",
    "127.0.0.1@192.0.2.1",
    "a[::1]",
    "[]",
  ])("leaves this host at %s", (host) => {
    expect(isLoopback(`ws://${host}/x`)).toBe(false);
  });
});

describe("an ssh URL", () => {
  it.each([
    ["ssh://build", { host: "build" }],
    ["ssh://me@build.example:2222/srv/a%20b", { host: "build.example", user: "me", port: 2222, cwd: "/srv/a b" }],
    ["ssh://[fe80::1%25eth0]/~/work", { host: "fe80::1%eth0", cwd: "~/work" }],
    ["ssh://h/", { host: "h" }],
  ])("%s has its parts", (url, parts) => {
    expect(readSshUrl(url)).toEqual(parts);
  });
  it.each([
    "ssh://",
    "ssh://-oProxyCommand=x",
    "ssh://-l@h",
    "ssh://u:p@h",
    "ssh://h:0",
    "ssh://h:70000",
    "ssh://h o",
    "ssh://h?x",
    "ssh://h/%zz",
    "ssh://h/%00",
  ])("%s is refused", (url) => {
    expect(readSshUrl(url)).toEqual(expect.stringContaining("expected ssh://"));
  });
});
