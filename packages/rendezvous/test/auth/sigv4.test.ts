import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openAccess } from "../../src/auth/open-access.js";
import { isSignedWith } from "../../src/auth/sigv4.js";
import { send, startRendezvous } from "../support.js";

describe("a signature", () => {
  const now = Date.UTC(2026, 10, 22, 12, 0, 0);
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  /** Signs as the specification of AWS says, each step spelled out. */
  function sign(
    secret: string,
    {
      path = "/cloud/environment/env-1/direct/register",
      body = '{"transport":"direct_jsonrpc_v1"}',
      time = "20261122T120000Z",
      host = "127.0.0.1",
    } = {},
  ) {
    const day = time.slice(0, 8);
    const canonical = `POST\n${path}\n\ncontent-type:application/json\nhost:${host}\nx-amz-date:${time}\n\ncontent-type;host;x-amz-date\n${sha256(body)}`;
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${day}/eu-north-1/execute-api/aws4_request\n${sha256(canonical)}`;
    const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), "eu-north-1"), "execute-api"), "aws4_request");
    const authorization =
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${day}/eu-north-1/execute-api/aws4_request, ` +
      `SignedHeaders=content-type;host;x-amz-date, Signature=${hmac(key, toSign).toString("hex")}`;
    return {
      method: "POST",
      path,
      body,
      headers: { authorization, host, "x-amz-date": time, "content-type": "application/json" },
    };
  }

  it("is that of AWS: the example of its documentation", () => {
    const headers = {
      authorization:
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
        "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
      host: "example.amazonaws.com",
      "x-amz-date": "20150830T123600Z",
    };
    const request = { method: "POST", path: "/", headers, body: "" };
    const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    expect(isSignedWith(secret, request, Date.UTC(2015, 7, 30, 12, 36))).toBe(true);
    expect(isSignedWith(`${secret}x`, request, Date.UTC(2015, 7, 30, 12, 36))).toBe(false);
  });

  it("covers path, host, time and body, and is not taken when it is old", () => {
    const signed = sign("the-token");
    expect(isSignedWith("the-token", signed, now)).toBe(true);
    expect(isSignedWith("the-token", signed, now + 300_000)).toBe(true);
    expect(isSignedWith("the-token", signed, now + 300_001)).toBe(false);
    expect(isSignedWith("the-token", signed, now - 300_001)).toBe(false);
    expect(isSignedWith("another", signed, now)).toBe(false);
    expect(isSignedWith("the-token", { ...signed, path: "/cloud/environment/env-2/direct/register" }, now)).toBe(false);
    expect(isSignedWith("the-token", { ...signed, body: "{}" }, now)).toBe(false);
    for (const change of [{ host: "evil" }, { "x-amz-date": "20261122T120001Z" }, { "x-amz-date": undefined }]) {
      expect(isSignedWith("the-token", { ...signed, headers: { ...signed.headers, ...change } }, now)).toBe(false);
    }
    const fewer = signed.headers.authorization.replace("content-type;host;", "");
    expect(isSignedWith("the-token", { ...signed, headers: { ...signed.headers, authorization: fewer } }, now)).toBe(
      false,
    );
  });

  it("with the executor's token registers a direct executor, and nothing else", async () => {
    const access = openAccess({ executorToken: "the-token", harnessToken: "h", log: {}, now: () => now });
    const { url } = await startRendezvous({ access });
    const { host } = new URL(url);
    const ask = async (secret: string, path?: string) => {
      const { body, headers, ...rest } = sign(secret, { host, ...(path === undefined ? {} : { path }) });
      const { status, body: answer } = await send(url, { ...rest, body, headers: { ...headers, host } });
      return answer.error?.code ?? status;
    };
    expect(await ask("the-token")).toBe(200);
    expect(await ask("h")).toBe("unauthenticated");
    expect(await ask("the-token", "/cloud/environment/env-1/register")).toBe("unauthenticated");
  });
});
