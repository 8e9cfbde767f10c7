import { describe, expect, it } from "vitest";
import { SecretFilter } from "../../src/index.js";

const SECRET = 'sk-t/e+s=t "Ä\\0123456789';
const filter = new SecretFilter([SECRET, undefined, "abc"]);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const everyByte = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

describe("hides a value", () => {
  it.each([
    ["as it is", SECRET],
    ["percent-encoded", encodeURIComponent(SECRET)],
    ["percent-encoded in lower case", encodeURIComponent(SECRET).toLowerCase().replace("sk-t", "sk-t")],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(SECRET))],
    ["with each byte percent-encoded", everyByte(SECRET)],
    ["as in a form", new URLSearchParams([["k", SECRET]]).toString().slice(2)],
    ["as in JSON", json(SECRET)],
    ["as in JSON in JSON that is percent-encoded", encodeURIComponent(json(SECRET))],
    ["with escaped slashes", json(SECRET).replaceAll("/", "\\/")],
    ["with escaped characters", json(SECRET).replaceAll("+", "\\u002b").replaceAll("=", "\\u003D")],
    ["in hexadecimal digits", Buffer.from(SECRET).toString("hex")],
    ["in hexadecimal digits of upper case", Buffer.from(SECRET).toString("hex").toUpperCase()],
    ["as in HTML", SECRET.replaceAll('"', "&quot;").replaceAll("+", "&#43;").replaceAll("/", "&#x2F;")],
  ])("%s", (_, written) => {
    expect(filter.hide(`before ${written} after`)).toBe("before <hidden> after");
  });

  it.each(["", "u:", "me:", "Bearer ", "user:"])("in base64 after %j", (before) => {
    for (const encoding of ["base64", "base64url"] as const) {
      const text = Buffer.from(`${before}${SECRET}`).toString(encoding);
      const shown = filter.hide(`Basic ${text}.`);
      expect(shown).toContain("<hidden>");
      const left = Buffer.from(shown.replace(/^Basic |<hidden>|\.$/g, ""), "base64").toString("latin1");
      expect(SECRET).not.toContain(left.slice(before.length) || "nothing");
    }
  });

  it("that is a part of another one, with all of the other one", () => {
    expect(new SecretFilter(["pass", "user:pass"]).hide("user:pass, pass")).toBe("<hidden>, <hidden>");
  });

  it("of thousands of characters", () => {
    const long = "aB3-_.".repeat(2000);
    expect(new SecretFilter([long]).hide(`x ${encodeURIComponent(long)} y`)).toBe("x <hidden> y");
  });
});

it("leaves short values and other text as they are", () => {
  expect(filter.hide("abc sk-t/e+s 0123456789")).toBe("abc sk-t/e+s 0123456789");
  expect(new SecretFilter([]).hide("anything")).toBe("anything");
});

it("shows no part of a value at any place of a cut", () => {
  const text = `0123 ${SECRET} 4567`;
  for (let from = 0; from <= text.length; from += 1) {
    for (let to = from; to <= text.length; to += 1) {
      const shown = filter.hide(text, from, to).replaceAll("<hidden>", "");
      expect("0123  4567").toContain(shown);
    }
  }
});

it("removes user, password, query and fragment of URLs, also at a cut", () => {
  const urls = new SecretFilter([], { urls: true });
  const text = "see wss://me:pa@ss@host:1/path?key=abc#frag and http://host/x";
  expect(urls.hide(text)).toBe("see wss://host:1/path and http://host/x");
  for (let from = 0; from < text.length; from += 1) expect(urls.hide(text, from)).not.toMatch(/ss@|key|abc|frag/);
});
