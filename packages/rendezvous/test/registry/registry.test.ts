import { describe, expect, it } from "vitest";
import { connect, dial, makeKey, registerBody, send, startExecutor, startRendezvous } from "../support.js";

const at = (action: string, id = "env-1") => `/cloud/environment/${id}/${action}`;

describe("register", () => {
  it("answers what Codex asks for, and the address of a connection", async () => {
    const { post, url } = await startRendezvous();
    const { status, body, headers } = await post(at("register"), registerBody());
    expect(status).toBe(200);
    expect(body).toMatchObject({ environment_id: "env-1", security_profile: "noise_hybrid_ik_v1" });
    expect(body.executor_registration_id).toMatch(/./);
    expect(body.url).toMatch(new RegExp(`^${url.replace("http", "ws")}/relay/env-1/executor\\?ticket=`));
    expect(headers["codex-rendezvous-version"]).toBe("1");
    expect(headers.connection).toBe("close");
  });

  it("with an empty body is for clear relay frames", async () => {
    const { post } = await startRendezvous();
    const { status, body } = await post(at("register"), "");
    expect([status, Object.keys(body).sort()]).toEqual([200, ["environment_id", "url"]]);
  });

  it("of a direct executor names its transport", async () => {
    const { post } = await startRendezvous();
    const { status, body } = await post(at("direct/register"), { transport: "direct_jsonrpc_v1" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ environment_id: "env-1", transport: "direct_jsonrpc_v1" });
    expect([body.registration_id, body.url]).toEqual([
      expect.stringMatching(/./),
      expect.stringContaining("/direct/env-1/executor?"),
    ]);
  });

  it("refuses another profile, key or transport", async () => {
    const { post, count } = await startRendezvous();
    const key = makeKey();
    const refused: unknown[] = [
      { ...registerBody(), security_profile: "none" },
      { security_profile: "noise_hybrid_ik_v1" },
      registerBody({ ...key, suite: "Noise_IK_25519" }),
      registerBody({ ...key, x25519_public_key: Buffer.alloc(31).toString("base64") }),
      registerBody({ ...key, mlkem768_public_key: Buffer.alloc(1184).toString("base64").replace(/A/, "*") }),
      [],
      "{",
      "null",
    ];
    for (const body of refused) {
      const answer = await post(at("register"), body);
      expect([answer.status, answer.body.error?.message], JSON.stringify(body).slice(0, 80)).toEqual([
        400,
        expect.stringMatching(/./),
      ]);
    }
    expect((await post(at("direct/register"), { transport: "direct_jsonrpc_v2" })).status).toBe(400);
    expect(count("refusals_total")).toBe(refused.length + 1);
  });

  it("does not let clear text replace an executor with Noise that is connected", async () => {
    const started = await startRendezvous();
    const executor = await startExecutor(started);
    for (const [path, body] of [
      [at("register"), ""],
      [at("direct/register"), { transport: "direct_jsonrpc_v1" }],
    ] as const) {
      expect((await started.post(path, body)).body.error?.code).toBe("registration_conflict");
    }
    executor.end.socket.close();
    await executor.end.closed;
    await expect.poll(async () => (await started.post(at("register"), "")).status).toBe(200);
  });

  it("in clear text can be refused altogether", async () => {
    const { post } = await startRendezvous({ noiseOnly: true });
    expect((await post(at("register"), "")).body.error?.code).toBe("clear_transport");
    expect((await post(at("direct/register"), { transport: "direct_jsonrpc_v1" })).body.error?.code).toBe(
      "clear_transport",
    );
    expect((await post(at("register"), registerBody())).status).toBe(200);
  });

  it("is bounded in number", async () => {
    const { post } = await startRendezvous({ limits: { maxRegistrations: 2 } });
    const statuses = [];
    for (const id of ["a", "b", "c", "a"]) statuses.push((await post(at("register", id), registerBody())).status);
    expect(statuses).toEqual([200, 200, 503, 200]);
  });
});

describe("connect", () => {
  it("gives the executor's key, a ticket and an authorization that Codex takes", async () => {
    const started = await startRendezvous();
    const { key, registrationId } = await startExecutor(started);
    const { body } = await started.post(at("connect"), { harness_public_key: makeKey() });
    expect(body).toMatchObject({
      environment_id: "env-1",
      security_profile: "noise_hybrid_ik_v1",
      executor_registration_id: registrationId,
      executor_public_key: key,
    });
    expect(Buffer.byteLength(body.harness_key_authorization!)).toBeLessThanOrEqual(4096);
  });

  it("is 503 with Retry-After while the executor is away, whether it was ever there or not", async () => {
    const started = await startRendezvous();
    const ask = async () => {
      const { status, headers } = await started.post(at("connect"), { harness_public_key: makeKey() });
      return [status, headers["retry-after"]];
    };
    expect(await ask()).toEqual([503, "1"]);
    const { end } = await startExecutor(started);
    expect((await ask())[0]).toBe(200);
    end.socket.terminate();
    await expect.poll(ask).toEqual([503, "1"]);
  });

  it("to an executor in clear text is refused", async () => {
    const { post } = await startRendezvous();
    await dial((await post(at("register"), "")).body.url!);
    expect((await post(at("connect"), { harness_public_key: makeKey() })).body.error?.code).toBe("clear_transport");
  });

  it("is limited for each environment", async () => {
    const started = await startRendezvous({ limits: { connectBurst: 2, connectsPerSecond: 1 } });
    await startExecutor(started);
    await startExecutor(started, "env-2");
    const ask = async (id: string) => (await started.post(at("connect", id), { harness_public_key: makeKey() })).status;
    expect([await ask("env-1"), await ask("env-1"), await ask("env-1"), await ask("env-2")]).toEqual([
      200, 200, 429, 200,
    ]);
  });
});

describe("validate", () => {
  async function start(options = {}) {
    const started = await startRendezvous(options);
    const executor = await startExecutor(started);
    const validate = async (message: object, id = "env-1", headers = {}) =>
      (await started.post(at("validate", id), message, headers)).body;
    const messageOf = (harness: Awaited<ReturnType<typeof connect>>) => ({
      executor_registration_id: executor.registrationId,
      harness_public_key: harness.key,
      harness_key_authorization: harness.authorization,
    });
    return { started, executor, validate, messageOf };
  }

  it("admits a harness once", async () => {
    const { started, validate, messageOf } = await start();
    const message = messageOf(await connect(started));
    expect(await validate(message)).toEqual({ valid: true });
    expect(await validate(message)).toEqual({ valid: false, reason: "ticket_used" });
    expect([started.count("validations_total", "admitted"), started.count("validations_total", "refused")]).toEqual([
      1, 1,
    ]);
  });

  it("refuses the authorization of another harness, environment or use, and one that was changed", async () => {
    const { started, validate, messageOf } = await start();
    await startExecutor(started, "env-2");
    const [mine, other] = [await connect(started), await connect(started, "env-2")];
    const ticket = new URL(mine.url).searchParams.get("ticket")!;
    const changed = mine.authorization.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
    expect(await validate({ ...messageOf(mine), harness_public_key: makeKey() })).toMatchObject({
      reason: "ticket_foreign",
    });
    expect(await validate(messageOf(other))).toMatchObject({ reason: "ticket_foreign" });
    for (const authorization of [changed, "", "v1..", mine.authorization.slice(3)]) {
      expect(await validate({ ...messageOf(mine), harness_key_authorization: authorization })).toMatchObject({
        reason: "ticket_invalid",
      });
    }
    expect(await validate({ ...messageOf(mine), harness_key_authorization: ticket })).toMatchObject({
      reason: "ticket_foreign",
    });
    expect(await validate(messageOf(mine))).toEqual({ valid: true });
  });

  it("refuses one that has expired", async () => {
    let now = 1_000_000;
    const { started, validate, messageOf } = await start({ wallClock: () => now });
    const message = messageOf(await connect(started));
    now += 60_000;
    expect(await validate(message)).toEqual({ valid: false, reason: "ticket_expired" });
  });

  it("refuses an authorization on the stream of another harness", async () => {
    const { started, executor, validate, messageOf } = await start();
    const [mine, other] = [await connect(started), await connect(started)];
    const end = await dial(other.url);
    end.data("s-other", "x");
    await executor.end.next();
    const header = (id: string) => ({ "x-codex-noise-stream-id": id });
    expect(await validate(messageOf(mine), "env-1", header("s-other"))).toMatchObject({ reason: "ticket_foreign" });
    expect(await validate(messageOf(other), "env-1", header("s-other"))).toEqual({ valid: true });
    expect(await validate(messageOf(mine), "env-1", header("s-mine"))).toEqual({ valid: true });
  });

  it("is answered 409 for a registration that was replaced", async () => {
    const { started, messageOf } = await start();
    const message = messageOf(await connect(started));
    await startExecutor(started);
    const { status, body } = await started.post(at("validate"), message);
    expect([status, body.error?.code]).toEqual([409, "registration_unknown"]);
  });
});

describe("paths", () => {
  it.each(["a%2fb", "%2e", "..", ".", "a.b", "", "é", "a%00", "x".repeat(257), "a;b", "a~"])(
    "refuse the environment id %j",
    async (id) => {
      const { post, url } = await startRendezvous();
      const { status, body } = await post(encodeURI(at("register", id)).replace(/%25/g, "%"), registerBody());
      expect([status, body.error?.code]).toEqual([400, "bad_environment_id"]);
      expect((await send(url, { path: `/relay/${encodeURI(id).replace(/%25/g, "%")}/executor` })).status).toBe(400);
    },
  );

  it("are taken as they are sent", async () => {
    const { post } = await startRendezvous();
    for (const path of [
      "/cloud/environment/a/b/register",
      "/cloud//environment/a/register",
      "/x/../cloud/environment/a/register",
      "/cloud/environment/a/register/",
      "//cloud/environment/a/register",
      "http://other/cloud/environment/a/register",
    ]) {
      expect([path, (await post(path, registerBody())).status]).toEqual([path, 404]);
    }
    expect((await post("/cloud/environment/a/register?x=1", registerBody())).status).toBe(200);
  });

  it("of the longest id are served", async () => {
    const { post } = await startRendezvous();
    expect((await post(at("register", "A_-9".repeat(64)), registerBody())).status).toBe(200);
  });
});
