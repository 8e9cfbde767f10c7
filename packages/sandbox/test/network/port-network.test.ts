// The network of a command on macOS. What its sandbox enforces cannot be tried on other platforms; what it is told can.
import { expect, it } from "vitest";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { READ_ALL, restrict } from "../support.js";

const command = { argv: ["true"], file: "/usr/bin/true", cwd: "/", env: {}, session: "new" } as const;

it("is one port of the loopback, which is all that the sandbox opens", async () => {
  const sandbox = createCommandSandbox({ platform: "darwin" });
  const [one, other] = await Promise.all([sandbox.openNetwork([]), sandbox.openNetwork([])]);
  if (one.kind !== "port" || other.kind !== "port") throw new Error("it is a namespace");
  try {
    expect(one.port).not.toBe(other.port);
    expect(one.proxy.address()).toMatchObject({ address: "127.0.0.1", port: one.port });
    const wrapped = await sandbox.wrap(command, restrict([READ_ALL]), one);
    const [, profile = ""] = wrapped!.args;
    const opened = profile.split("\n").filter((line) => line.includes("network"));
    expect(opened).toEqual([`(allow network-outbound (remote ip "localhost:${one.port}"))`]);
    const closed = (await sandbox.wrap(command, restrict([READ_ALL])))!.args[1]!;
    expect(closed).not.toContain("network");
  } finally {
    one.close();
    other.close();
  }
});

it("is no namespace's, and the other way round", async () => {
  const network = await createCommandSandbox({ platform: "darwin" }).openNetwork([]);
  try {
    const linux = createCommandSandbox({ platform: "linux" });
    await expect(linux.wrap(command, restrict([READ_ALL]), network)).rejects.toThrow(/another platform|cannot sandbox/);
  } finally {
    network.close();
  }
});
