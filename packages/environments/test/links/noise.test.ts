// An environment behind a registry, over a minimal rendezvous; and trusted keys.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Relayed, startRelayed } from "../../../relay/test/pair.ts";
import { createNoiseLink, openKnownExecutors } from "../../src/index.js";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(): Promise<{ relayed: Relayed; file: string }> {
  const relayed = await startRelayed();
  closing.push(() => relayed.close());
  const directory = mkdtempSync(join(tmpdir(), "known-executors-"));
  closing.push(() => rmSync(directory, { recursive: true }));
  return { relayed, file: join(directory, "known.json") };
}

const linkTo = ({ relayed, file }: { relayed: Relayed; file: string }, more = {}) =>
  createNoiseLink({
    registryUrl: relayed.rendezvous.url,
    environmentId: "env-1",
    token: "secret",
    known: openKnownExecutors(file),
    ...more,
  });

const signal = new AbortController().signal;

test("opens a channel to the executor, and shows the registry its token", async () => {
  const place = await start();
  const accepted = place.relayed.accept();
  const { channel } = await linkTo(place).open(signal);
  await channel.send({ hello: 1 });
  expect(await (await accepted).receive()).toMatchObject({ value: { hello: 1 } });
  const [connect] = place.relayed.rendezvous.requests.filter(({ method }) => method === "connect");
  expect(connect?.headers.authorization).toBe("Bearer secret");
  await channel.close();
});

test("the key that is trusted is accepted, another one refused with both fingerprints", async () => {
  const place = await start();
  const address = { registryUrl: `${place.relayed.rendezvous.url}/`, environmentId: "env-1" };
  const known = openKnownExecutors(place.file);
  const { fingerprint } = place.relayed.executor;
  expect(await known.trust(address, fingerprint)).toBeUndefined();
  await (await linkTo(place).open(signal)).channel.close();
  const other = `SHA256:${"A".repeat(43)}`;
  expect(await known.trust(address, other)).toBe(fingerprint);
  await expect(linkTo(place).open(signal)).rejects.toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining(`${fingerprint}, not ${other}`),
  });
  expect(JSON.parse(readFileSync(place.file, "utf8"))).toEqual({ [`${place.relayed.rendezvous.url} env-1`]: other });
  const methods = place.relayed.rendezvous.requests.map(({ method }) => method);
  expect(methods.filter((method) => method === "validate")).toHaveLength(1);
});

test("a damaged file trusts nobody", async () => {
  const place = await start();
  writeFileSync(place.file, '{"a": 1}');
  await expect(linkTo(place).open(signal)).rejects.toThrow(/not a list of trusted executors/);
});

test("the token is not sent over http: to another machine", async () => {
  const place = await start();
  const link = linkTo(place, { registryUrl: "http://192.0.2.1:9" });
  await expect(link.open(signal)).rejects.toThrow(/not over http: to 192\.0\.2\.1/);
});

test.each([
  [401, "unauthorized"],
  [503, "unreachable"],
])("status %i is %s", async (status, code) => {
  const place = await start();
  place.relayed.rendezvous.refuse = () => ({ status });
  await expect(linkTo(place).open(signal)).rejects.toMatchObject({ code, message: expect.stringContaining("as told") });
});
