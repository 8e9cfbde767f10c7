import { describe, expect, it } from "vitest";
import { parseFileUrl, parsePlainFileUrl, toFileUrl } from "../src/file-url.js";

const parse = (text: string) => parseFileUrl(text, { platform: "linux" });

describe("a path of this host", () => {
  it.each([
    ["file:///tmp/f.txt", "/tmp/f.txt"],
    ["file://localhost/tmp", "/tmp"],
    ["FILE://LOCALHOST/tmp", "/tmp"],
    ["file:/tmp/x", "/tmp/x"],
    ["file:///", "/"],
    ["file:///tmp/", "/tmp"],
    ["file:////tmp//x", "/tmp/x"],
    ["file:///a%20b/%C3%BCl", "/a b/ül"],
    ["file:///a b/ül", "/a b/ül"],
    ["file:///%23%3F%25;%5C", "/#?%;\\"],
    ["file:///100%", "/100%"],
    ["file:///%zz", "/%zz"],
    ["file:///a/../b/%2e%2e/c", "/c"],
    ["file:///a%2Fb", "/a/b"],
    [" file:///tmp ", "/tmp"],
    ["file:///C", "/C"],
    ["file:///C%3A", "/C:"],
  ])("is in %s", (text, path) => {
    expect(parse(text)).toEqual({ kind: "ok", path });
  });

  it("is bytes where the name is not UTF-8", () => {
    expect(parse("file:///bad%FF")).toEqual({ kind: "ok", path: Buffer.from("/bad\xff", "latin1") });
  });
});

describe("what is not a path URI", () => {
  it.each([
    ["", "invalid URI: relative URL without a base"],
    ["/tmp/x", "invalid URI: relative URL without a base"],
    ["relative", "invalid URI: relative URL without a base"],
    ["//host/x", "invalid URI: relative URL without a base"],
    ["http://x/", "unsupported path URI scheme `http`"],
    ["C:\\x", "unsupported path URI scheme `c`"],
    ["urn:x", "unsupported path URI scheme `urn`"],
    ["file:///x#f", "fragments are not allowed in path URIs"],
    ["file:///x#", "fragments are not allowed in path URIs"],
    ["file:///x?q", "query parameters are not allowed in path URIs"],
    ["file:///x?", "query parameters are not allowed in path URIs"],
    ["file:///x%00y", "'file:///x%00y' is invalid on 'linux'"],
    ["file:///x\0y", "'file:///x%00y' is invalid on 'linux'"],
    ["file://exa mple/x", "invalid URI: `file://exa mple/x` has no valid host or port"],
    ["file://localhost:80/x", "invalid URI: `file://localhost:80/x` has no valid host or port"],
  ])("%j is refused", (text, problem) => {
    expect(parse(text)).toEqual({ kind: "invalid", problem });
  });

  it.each(["file://host/tmp", "file://127.0.0.1/tmp", "file:///C:/x", "file:///c:", "file:///C|/x"])(
    "%s belongs to another host",
    (text) => {
      expect(parse(text)).toEqual({ kind: "foreign", problem: `'${text}' is invalid on 'linux'` });
      expect(parseFileUrl(text, { platform: "darwin" })).toMatchObject({ problem: `'${text}' is invalid on 'macos'` });
    },
  );
});

describe("native paths", () => {
  it("are accepted with allowNative", () => {
    const native = (text: string) => parseFileUrl(text, { allowNative: true, platform: "linux" });
    expect(native("/tmp/a%20b/")).toEqual({ kind: "ok", path: "/tmp/a%20b" });
    expect(native("/#?")).toEqual({ kind: "ok", path: "/#?" });
    expect(native("file:///tmp")).toEqual({ kind: "ok", path: "/tmp" });
    expect(native("tmp")).toMatchObject({ kind: "invalid" });
    expect(native("/a\0b")).toEqual({ kind: "invalid", problem: "'/a%00b' is invalid on 'linux'" });
  });
});

describe("toFileUrl", () => {
  it("leaves the same characters unescaped as Codex does", () => {
    const ascii = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1)).join("");
    const plain = [...ascii].filter((character) => toFileUrl(character) === `file://${character}`).join("");
    expect(plain).toBe("!$&'()*+,-./0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz|~");
  });

  it("is undone by parseFileUrl, byte by byte", () => {
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1).filter((byte) => byte !== 0x2f));
    const path = Buffer.concat([Buffer.from("/x"), bytes]);
    expect(parse(toFileUrl(path))).toEqual({ kind: "ok", path });
    expect(toFileUrl("/tmp/ü b")).toBe("file:///tmp/%C3%BC%20b");
    for (const name of ["/x", "/ü#?%;\\ \n", "/.hidden", "/a..b"])
      expect(parse(toFileUrl(name))).toEqual({ kind: "ok", path: name });
  });
});

describe("a plain file URL", () => {
  const names = [
    "",
    ".",
    "..",
    "...",
    ".git",
    "a..",
    "..a",
    "~",
    "@x",
    "a+b",
    "k=v",
    "a,b",
    "-",
    "_",
    "C",
    "C:",
    "C|",
    "%41",
  ];
  const more = ["a b", "a\nb", "ä", "a#b", "a?b", "a\\b", "a;b", "a'b", "a^b", "a|b"];
  const paths = [...names, ...more].flatMap((one) => [`/${one}`, ...names.map((other) => `/${one}/${other}`)]);

  it("has the same path as with a URI parser", () => {
    const plain = paths.filter((path) => parsePlainFileUrl(`file://${path}`) !== undefined);
    expect(plain.length).toBeGreaterThan(100);
    for (const path of plain) {
      expect(parsePlainFileUrl(`file://${path}`)).toBe(path);
      expect(new URL(`file://${path}`).pathname).toBe(path);
    }
  });

  it.each(["file:///", "file:///a/", "file:///a//b", "file:///a/./b", "file:///a/..", "file://host/a", "file:///a\n"])(
    "is not %j",
    (text) => expect(parsePlainFileUrl(text)).toBeUndefined(),
  );
});
