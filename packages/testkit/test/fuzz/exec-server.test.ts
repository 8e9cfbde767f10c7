import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { RpcError } from "@codex/channel";
import { createEnvironment } from "@codex/exec-backend";
import type { BearerAuth } from "@codex/exec-server";
import { decodeBase64, parseFileUrl, toFileUrl, toHostPath } from "@codex/exec-server-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { authorizeBearer } from "../../../exec-server/src/listen/bearer-token.js";
import * as environment from "../../../exec-server-protocol/src/environment.js";
import * as fs from "../../../exec-server-protocol/src/fs.js";
import * as http from "../../../exec-server-protocol/src/http.js";
import * as initialize from "../../../exec-server-protocol/src/initialize.js";
import * as processes from "../../../exec-server-protocol/src/process.js";
import { anyJson, bytes, check, mutatedJson, repeatedText } from "./support.js";

type Decoder = (params: unknown) => unknown;
const decoders: [string, Decoder][] = [environment, fs, http, initialize, processes]
  .flatMap((module) => Object.entries(module))
  .filter((entry): entry is [string, Decoder] => entry[0].startsWith("decode") && typeof entry[1] === "function");

interface Case {
  send: { params?: unknown }[];
}
const recorded: unknown[] = ["exec-server.json", "extensions.json"]
  .flatMap((name): Case[] =>
    JSON.parse(readFileSync(new URL(`../../../../conformance/cases/${name}`, import.meta.url), "utf8")),
  )
  .flatMap(({ send }) => send.map(({ params }) => params))
  .filter((params) => params !== undefined);

describe("params of a request", () => {
  it("has decoders and recorded params to start from", () => {
    expect(decoders.length).toBeGreaterThanOrEqual(25);
    expect(recorded.length).toBeGreaterThan(300);
  });

  it.each(decoders)("%s accepts them or throws an error with a code", (_name, decode) =>
    check(
      fc.property(fc.oneof(anyJson, mutatedJson(recorded)), (params) => {
        try {
          decode(params);
        } catch (error) {
          expect(error).toBeInstanceOf(RpcError);
          expect([-32602, -32600]).toContain((error as RpcError).code);
          expect((error as RpcError).message).not.toBe("");
        }
      }),
      150,
    ),
  );
});

describe("base64", () => {
  it("round-trips any bytes, and accepts only one text for them", () =>
    check(
      fc.property(bytes({ maxLength: 100 }), fc.nat(), fc.string({ maxLength: 2 }), (wanted, at, put) => {
        const text = wanted.toString("base64");
        expect(decodeBase64(text)).toEqual({ kind: "ok", bytes: wanted });
        const from = at % (text.length + 1);
        const other = text.slice(0, from) + put + text.slice(from + 1);
        const decoded = decodeBase64(other);
        if (decoded.kind === "ok") expect(decoded.bytes.toString("base64")).toBe(other);
        else expect(decoded.problem).toMatch(/^Invalid /);
      }),
      1_000,
    ));
});

describe("a file URL", () => {
  const options = { platform: "linux" } as const;

  it("can represent every path, byte by byte", () =>
    check(
      fc.property(fc.array(bytes({ minLength: 1, maxLength: 12, min: 1 }), { minLength: 1, maxLength: 5 }), (names) => {
        const parts = names.map((name) => Buffer.from(name.toString("latin1").replaceAll("/", "_"), "latin1"));
        fc.pre(parts.every((part) => !/^\.\.?$/.test(part.toString("latin1"))));
        // A drive letter belongs to another kind of host.
        fc.pre(!/^[A-Za-z][:|]$/.test(parts[0]!.toString("latin1")));
        const path = toHostPath(Buffer.concat(parts.flatMap((part) => [Buffer.from("/"), part])));
        expect(parseFileUrl(toFileUrl(path), options)).toEqual({ kind: "ok", path });
      }),
      1_000,
    ));

  it("of any text is a path, foreign or invalid; a path is absolute and without a null byte", () =>
    check(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.webUrl()),
        fc.constantFrom(
          "",
          "file:",
          "file://",
          "file:///",
          "FILE://localhost/",
          " file:/",
          "file:///%2e%2e/",
          "file:\\",
        ),
        fc.boolean(),
        (text, scheme, allowNative) => {
          const parsed = parseFileUrl(scheme + text, { ...options, allowNative });
          if (parsed.kind !== "ok") {
            expect(parsed.problem).not.toBe("");
            return;
          }
          const path = Buffer.from(parsed.path as string).toString("latin1");
          expect(path.startsWith("/") && !path.includes("\0")).toBe(true);
        },
      ),
      1_000,
    ));
});

describe("an environment by policy", () => {
  const name = fc.oneof(fc.constantFrom("PATH", "HOME", "API_KEY", "my_token", "__proto__", "É"), fc.string());
  const pattern = fc.oneof(
    fc.constantFrom("*", "?", "*KEY*", "*_*", "P?TH", "a*b*c*", "**", "[A]"),
    fc.string({ unit: fc.constantFrom("*", "?", "a", "B", "_", ".") }),
    name,
  );
  /** Of unbounded time, so only for short ones. */
  const matches = (text: string, glob: string) => {
    const source = [...glob.toLowerCase()].map((c) =>
      c === "*" ? ".*" : c === "?" ? "." : `\\u{${c.codePointAt(0)!.toString(16)}}`,
    );
    return new RegExp(`^${source.join("")}$`, "su").test(text.toLowerCase());
  };
  const CORE = /^(HOME|LANG|LC_ALL|LC_CTYPE|LOGNAME|PATH|SHELL|TEMP|TMP|TMPDIR|USER)$/i;

  it("follows the rules in their order", () =>
    check(
      fc.property(
        fc.record({
          inherit: fc.constantFrom("all" as const, "core" as const, "none" as const),
          ignoreDefaultExcludes: fc.boolean(),
          exclude: fc.array(pattern, { maxLength: 3 }),
          set: fc.dictionary(name, fc.string(), { maxKeys: 3 }),
          includeOnly: fc.array(pattern, { maxLength: 2 }),
        }),
        fc.dictionary(name, fc.string(), { maxKeys: 6 }),
        fc.dictionary(name, fc.string(), { maxKeys: 3 }),
        (policy, own, overlay) => {
          const excludes = [
            ...(policy.ignoreDefaultExcludes ? [] : ["*KEY*", "*SECRET*", "*TOKEN*"]),
            ...policy.exclude,
          ];
          const wanted = new Map(
            Object.entries(own)
              .filter(([key]) => policy.inherit === "all" || (policy.inherit === "core" && CORE.test(key)))
              .filter(([key]) => !excludes.some((glob) => matches(key, glob))),
          );
          for (const [key, value] of Object.entries(policy.set)) wanted.set(key, value);
          for (const key of [...wanted.keys()]) {
            if (policy.includeOnly.length > 0 && !policy.includeOnly.some((glob) => matches(key, glob)))
              wanted.delete(key);
          }
          for (const [key, value] of Object.entries(overlay)) wanted.set(key, value);
          expect(new Map(Object.entries(createEnvironment(policy, own, overlay)))).toEqual(wanted);
        },
      ),
      500,
    ));

  it("takes bounded time for the worst patterns", () =>
    check(
      fc.property(repeatedText(["*", "a", "?", "*a", "b"], 300), repeatedText(["a", "b", "ab"], 300), (glob, key) => {
        const policy = {
          inherit: "all",
          ignoreDefaultExcludes: true,
          exclude: [glob],
          set: {},
          includeOnly: [],
        } as const;
        expect(
          Object.keys(createEnvironment({ ...policy, exclude: [...policy.exclude], includeOnly: [] }, { [key]: "" }))
            .length,
        ).toBeLessThan(2);
      }),
      50,
    ));
});

describe("a bearer token", () => {
  const secret = Buffer.alloc(32, 7);
  const auth: BearerAuth = { kind: "signed", secret, issuer: "me", audience: "you", maxClockSkewSeconds: 30 };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const sign = (head: string, body: string) =>
    createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url");
  const ask = (authorization: string) =>
    authorizeBearer(auth, () => 1_000_000)({ headers: { authorization } } as IncomingMessage);
  const claims = { exp: 2_000, iss: "me", aud: ["x", "you"] };

  it("is accepted when its signature and claims are valid, and never when it was changed", () =>
    check(
      fc.property(fc.nat(), fc.string({ maxLength: 3 }), fc.nat({ max: 2 }), (at, put, length) => {
        const head = part({ alg: "HS256", typ: "JWT" });
        const body = part(claims);
        const token = `${head}.${body}.${sign(head, body)}`;
        expect(ask(`Bearer ${token}`)).toEqual({ ok: true });
        const from = at % token.length;
        const other = token.slice(0, from) + put + token.slice(from + length);
        fc.pre(other.trim() !== token);
        expect(ask(`Bearer ${other}`).ok).toBe(false);
      }),
      500,
    ));

  it("is refused with any other header and claims, signed or not, without an exception", () =>
    check(
      fc.property(
        mutatedJson([{ alg: "HS256", typ: "JWT" }, { alg: "none" }]),
        mutatedJson([claims, { ...claims, nbf: 1_500 }]),
        (header, body) => {
          const text = `${part(header)}.${part(body)}`;
          const answer = ask(`bearer ${text}.${sign(part(header), part(body))}`);
          if (!answer.ok) {
            expect(answer).toMatchObject({ status: 401 });
            return;
          }
          expect(header).toMatchObject({ alg: "HS256" });
          const { exp, iss, aud } = body as { exp: number; iss: string; aud: string | string[] };
          expect(exp + 30).toBeGreaterThanOrEqual(1_000);
          expect(iss).toBe("me");
          expect([aud].flat()).toContain("you");
        },
      ),
      500,
    ));

  it("is parsed in linear time, whatever the header", () =>
    check(
      fc.property(repeatedText([" ", "\t", "bearer ", "a", ".", "a "], 16_000), (header) => {
        expect(ask(`bearer ${header}`).ok).toBe(false);
      }),
      50,
    ));
});
