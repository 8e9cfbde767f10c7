import { isUtf8 } from "node:buffer";
import { createMemoryChannelPair, encodeId, Peer, parseEnvelope, RpcError, resolveLimits } from "@codex/channel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFrame } from "../../../channel/src/codec/decode.js";
import { encodeValue } from "../../../channel/src/codec/encode.js";
import { LineSplitter } from "../../../channel/src/stdio/line-splitter.js";
import { anyJson, bytes, check, cutBytes, mutatedJson } from "./support.js";

const ENVELOPES: readonly unknown[] = [
  { id: 1, method: "initialize", params: { clientName: "x", resumeSessionId: null } },
  { id: "a", method: "m", trace: { traceparent: "00-1-2-03", tracestate: null } },
  { method: "process/output", params: { processId: "p", seq: 1, stream: "stdout", chunk: "QQ==" } },
  { id: -5, result: { running: true } },
  { id: "b", error: { code: -32600, message: "no", data: [1] } },
];

/** Lines as a reader that has all bytes at once would see them. */
function splitAtOnce(all: Buffer, limit: number): (string | "too_long")[] {
  const lines = all.toString("latin1").split("\n");
  return lines
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
    .flatMap((line) => (line.length > limit ? ["too_long"] : /^[ \t\r]*$/.test(line) ? [] : [line]));
}

describe("the line splitter", () => {
  it("finds the same lines however the bytes are chunked, and buffers at most a line", () =>
    check(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom("\n", "\r\n", "\r", " ", "abc", '{"a":1}', "x".repeat(30)), fc.string()), {
          maxLength: 30,
        }),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (parts, cuts, limit) => {
          const all = Buffer.from(parts.join(""));
          const splitter = new LineSplitter(limit);
          const found: string[] = [];
          const take = () => {
            for (let line = splitter.next(); line !== undefined; line = splitter.next()) {
              found.push(line === "too_long" ? line : line.toString("latin1"));
            }
            expect(splitter.waitingBytes).toBe(0);
          };
          for (const piece of cutBytes(all, cuts)) {
            splitter.push(Buffer.from(piece));
            take();
          }
          splitter.end();
          take();
          expect(found).toEqual(splitAtOnce(all, limit));
        },
      ),
      1_000,
    ));
});

describe("a frame", () => {
  const limits = resolveLimits({ maxMessageBytes: 4_096, maxDepth: 12, maxValues: 60 });

  it("of any bytes is a value or malformed, never an exception", () =>
    check(
      fc.property(fc.oneof(bytes({ maxLength: 5_000 }), fc.string().map(Buffer.from)), (frame) => {
        const received = decodeFrame(frame, limits);
        if (received.kind === "value") expect(isUtf8(frame)).toBe(true);
        else expect(received.problem).not.toBe("");
      }),
      500,
    ));

  it("arrives as it was sent within the limits; otherwise both ends reject it", () =>
    check(
      fc.property(anyJson, (value) => {
        let frame: Buffer;
        try {
          frame = encodeValue(value, limits);
        } catch (error) {
          expect(error).toMatchObject({ name: "ChannelError" });
          expect(decodeFrame(Buffer.from(JSON.stringify(value)), limits).kind).toBe("malformed");
          return;
        }
        const received = decodeFrame(frame, limits);
        expect(received).toMatchObject({ kind: "value" });
        if (received.kind === "value") expect(JSON.stringify(received.value)).toBe(JSON.stringify(value));
      }),
      1_000,
    ));
});

describe("a JSON-RPC envelope", () => {
  it("has one kind for any value, and an id that is encoded as it was parsed", () =>
    check(
      fc.property(fc.oneof(anyJson, mutatedJson(ENVELOPES)), (value) => {
        const text = JSON.stringify(value);
        const envelope = parseEnvelope(JSON.parse(text), text);
        if (envelope.kind === "malformed") expect(envelope.problem).not.toBe("");
        if ("id" in envelope) expect(JSON.parse(encodeId(envelope.id))).toEqual(JSON.parse(text).id);
      }),
      2_000,
    ));

  it("keeps every digit of a 64-bit id, wherever it is", () =>
    check(
      fc.property(
        fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
        fc.constantFrom('"x":{"id":5},', '"\\u0069d2":"id\\"",', "", ' "y" : [ {"id":1} ] ,'),
        fc.constantFrom('"id"', '"\\u0069d"', '"i\\u0064" '),
        (id, before, key) => {
          const text = `{${before}"method":"m",${key}:${id}}`;
          const envelope = parseEnvelope(JSON.parse(text), text);
          const fits = id >= -(2n ** 63n) && id < 2n ** 63n;
          expect(envelope.kind).toBe(fits ? "request" : "malformed");
          if (envelope.kind === "request") expect(encodeId(envelope.id)).toBe(String(id));
        },
      ),
      500,
    ));

  it("rejects a repeated member, however its name is escaped", () =>
    check(
      fc.property(fc.constantFrom("id", "method", "params", "x"), fc.nat({ max: 3 }), (name, escaped) => {
        const at = escaped % name.length;
        const code = name.charCodeAt(at).toString(16).padStart(4, "0");
        const other = `${name.slice(0, at)}\\u${code}${name.slice(at + 1)}`;
        const text = `{"${name}":"1","${other}":"2"}`;
        expect(parseEnvelope(JSON.parse(text), text)).toEqual({ kind: "malformed", problem: "a member is repeated" });
      }),
    ));
});

describe("a JSON-RPC peer", () => {
  it("responds to every request once, also between invalid frames", () =>
    check(
      fc.asyncProperty(fc.array(fc.oneof(anyJson, mutatedJson(ENVELOPES)), { maxLength: 12 }), async (values) => {
        const [ours, theirs] = createMemoryChannelPair();
        const peer = new Peer(theirs, {
          unknownRequest: (_params, { id }) => {
            if (typeof id === "string") throw new RpcError(1, "no");
            return {};
          },
          onMalformed: () => void peer.sendError(-1, new RpcError(-32600, "malformed")),
        });
        const texts = values.map((value) => JSON.stringify(value));
        for (const text of texts) await ours.sendEncoded(Buffer.from(text));
        await ours.sendEncoded(Buffer.from('{"id":"last","method":"m"}'));
        const answered: string[] = [];
        for (;;) {
          const received = await ours.receive();
          if (received?.kind !== "value") throw new Error("the peer has ended");
          const { id } = received.value as { id: unknown };
          if (id === "last") break;
          answered.push(JSON.stringify(id));
        }
        const wanted = texts.flatMap((text) => {
          const envelope = parseEnvelope(JSON.parse(text), text);
          if (envelope.kind === "malformed") return ["-1"];
          return envelope.kind === "request" ? [encodeId(envelope.id)] : [];
        });
        expect(answered.sort()).toEqual(wanted.sort());
        await ours.close();
        await peer.closed;
      }),
      200,
    ));
});
