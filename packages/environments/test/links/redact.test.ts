import { ChannelError } from "@codex/channel";
import { describe, expect, it } from "vitest";
import { listUrlSecrets, redact, redactLink } from "../../src/links/redact.js";

describe("the secret parts of a URL", () => {
  it.each([
    ["ws://host:1/path", []],
    ["ws://me:p%40ssword@host/", ["me:p%40ssword", "me:p@ssword", "p%40ssword", "p@ssword"]],
    ["wss://token-alone@host", ["token-alone"]],
    ["ws://host/?key=abcdef&n=1#fragment", ["key=abcdef&n=1", "abcdef", "fragment"]],
    ["host.example/?key=abcdef", ["key=abcdef", "abcdef"]],
    ["me:p4ssword@host", ["me:p4ssword", "p4ssword"]],
    ["--verbose", []],
  ])("%s", (url, expected) => {
    expect(listUrlSecrets(url)).toEqual(expected);
  });
});

describe("a text without secrets", () => {
  it("omits them and the secret parts of URLs, also if one is part of another or of a quoted URL", () => {
    const secrets = ["s3cret", "more of s3cret", ...listUrlSecrets("ws://u:it's@h/?k=va'lue")];
    const text = "more of s3cret, s3cret; ws://u:it's@h/?k=va'lue failed: ws://other:word@h:1/p?q#f";
    const shown = redact(text, secrets);
    expect(shown).not.toMatch(/s3cret|it's|va'lue|word|q#f/);
    expect(shown).toMatch(/^…, …; ws:\/\/.* failed: ws:\/\/h:1\/p$/);
  });
});

it("removes secrets from the errors of a link and keeps their kind", async () => {
  const cause = new Error("below: t0ken-of-mine");
  const error = new ChannelError("unauthorized", "refused t0ken-of-mine", { cause });
  const link = redactLink({ secrets: ["t0ken-of-mine"], open: () => Promise.reject(error) });
  const thrown = await link.open(new AbortController().signal).catch((reason: unknown) => reason);
  expect(thrown).toBe(error);
  expect([error.message, cause.message, `${error.stack}${cause.stack}`.includes("t0ken-of-mine")]).toEqual([
    "refused …",
    "below: …",
    false,
  ]);
});
