import { describe, expect, it } from "vitest";
import { createSeccompFilter } from "../../src/seccomp/filter.js";
import { CHECKED_CALLS, REFUSED_CALLS, REFUSED_OFFLINE_CALLS } from "../../src/seccomp/system-calls.js";

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
type Name = keyof typeof ARCHITECTURES;

/** What the kernel does: classic BPF over `struct seccomp_data`. */
function evaluate(filter: Buffer, call: { architecture: number; number: number; args?: readonly number[] }): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.architecture, 4);
  for (const [index, value] of (call.args ?? []).entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + index * 8);
  }
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const [yes, no] = [filter[at * 8 + 2]!, filter[at * 8 + 3]!];
    const value = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x06) return NAMES[value] ?? value.toString(16);
    else throw new Error(`unknown code ${code}`);
  }
  throw new Error("ran off the end");
}

const NAMES: Record<number, string> = { 2147418112: "allow", 327681: "EPERM", 327718: "ENOSYS", 2147483648: "kill" };

describe.each(Object.keys(ARCHITECTURES) as Name[])("the filter of %s", (name) => {
  const architecture = ARCHITECTURES[name];
  const filters = {
    restricted: createSeccompFilter("restricted", name)!,
    enabled: createSeccompFilter("enabled", name)!,
  };
  const run = (network: keyof typeof filters, number: number, ...args: number[]) =>
    evaluate(filters[network], { architecture, number, args });

  it.each(Object.entries(REFUSED_CALLS))("refuses %s", (_call, numbers) => {
    const number = numbers[name];
    if (number === undefined) return expect(numbers.x64).toBeDefined();
    expect([run("restricted", number), run("enabled", number)]).toEqual(["EPERM", "EPERM"]);
  });

  it.each(Object.entries(REFUSED_OFFLINE_CALLS))("refuses %s without a network alone", (_call, numbers) => {
    const process = 7;
    expect([run("restricted", numbers[name], process), run("enabled", numbers[name], process)]).toEqual([
      "EPERM",
      "allow",
    ]);
  });

  const NEWUSER = 0x10000000;
  it.each<[keyof typeof CHECKED_CALLS, number[], string, string]>([
    ["socket", [1, 1], "EPERM", "EPERM"],
    ["socket", [1, 2 | 0o2004000], "EPERM", "EPERM"],
    ["socket", [2 ** 32 + 1, 1], "EPERM", "EPERM"],
    ["socket", [2, 1], "EPERM", "allow"],
    ["socket", [10, 1], "EPERM", "allow"],
    ["socket", [16, 3], "EPERM", "allow"],
    ["socket", [17, 3], "EPERM", "EPERM"],
    ["socket", [40, 1], "EPERM", "EPERM"],
    ["socketpair", [1, 1], "allow", "allow"],
    ["socketpair", [1, 5 | 0o2004000], "allow", "allow"],
    ["socketpair", [1, 2], "EPERM", "EPERM"],
    ["socketpair", [1, 3], "EPERM", "EPERM"], // raw, which is a datagram socket
    ["socketpair", [2, 1], "EPERM", "EPERM"],
    ["clone", [17], "allow", "allow"],
    ["clone", [0x3d0f00], "allow", "allow"], // a thread
    ["clone", [NEWUSER | 17], "EPERM", "EPERM"],
    ["clone", [0x20000 | 17], "EPERM", "EPERM"],
    ["clone3", [0], "ENOSYS", "ENOSYS"],
    ["unshare", [0x400], "allow", "allow"], // files
    ["unshare", [0x80], "EPERM", "EPERM"],
    ["unshare", [NEWUSER], "EPERM", "EPERM"],
    ["ioctl", [0, 0x5401], "allow", "allow"],
    ["ioctl", [0, 0x5412], "EPERM", "EPERM"],
    ["ioctl", [0, 0x541c], "EPERM", "EPERM"],
    ["ioctl", [0, 2 ** 32 + 0x5412], "EPERM", "EPERM"],
    ["ptrace", [16, 1], "EPERM", "EPERM"],
    ["ptrace", [0x4206, 2 ** 32 + 1], "EPERM", "EPERM"],
    ["ptrace", [16, 7], "EPERM", "allow"],
    ["ptrace", [0, 0], "EPERM", "allow"],
    ["process_vm_writev", [1], "EPERM", "EPERM"],
    ["process_vm_readv", [1], "EPERM", "EPERM"],
    ["fchmod", [3, 0o755], "allow", "allow"],
    ["fchmod", [3, 0o1777], "allow", "allow"],
    ["fchmod", [3, 0o4755], "EPERM", "EPERM"],
    ["fchmodat", [-100, 0, 0o2755], "EPERM", "EPERM"],
    ["fchmodat", [-100, 0, 0o644], "allow", "allow"],
    ["fchmodat2", [-100, 0, 0o6755], "EPERM", "EPERM"],
    ["mkdirat", [-100, 0, 0o755], "allow", "allow"],
    ["mkdirat", [-100, 0, 0o2755], "EPERM", "EPERM"],
    ["openat", [-100, 0, 0o100, 0o644], "allow", "allow"],
    ["openat", [-100, 0, 0o100, 0o4755], "EPERM", "EPERM"],
    ["openat", [-100, 0, 0o20200000, 0o2755], "EPERM", "EPERM"],
    ["openat", [-100, 0, 0, 0o4755], "allow", "allow"], // without a file to create, the mode is any value
    ["openat2", [-100, 0, 0, 24], "ENOSYS", "ENOSYS"],
    ["mknodat", [-100, 0, 0o10600], "allow", "allow"],
    ["mknodat", [-100, 0, 0o104755], "EPERM", "EPERM"],
    ["mknodat", [-100, 0, 0o20600], "EPERM", "EPERM"],
    ["mknodat", [-100, 0, 0o60600], "EPERM", "EPERM"],
    ["renameat2", [-100, 0, -100, 0, 1], "allow", "allow"],
    ["renameat2", [-100, 0, -100, 0, 4], "EPERM", "EPERM"],
  ])("checks %s %j", (call, args, restricted, enabled) => {
    const number = CHECKED_CALLS[call][name]!;
    expect([run("restricted", number, ...args), run("enabled", number, ...args)]).toEqual([restricted, enabled]);
  });

  it("leaves every other call alone", () => {
    const listed = [REFUSED_CALLS, REFUSED_OFFLINE_CALLS, CHECKED_CALLS].flatMap((calls) => Object.values(calls));
    const known = new Set<number | undefined>(listed.map((numbers) => numbers[name]));
    for (let number = 0; number < 600; number += 1) {
      if (!known.has(number)) expect(run("restricted", number)).toBe("allow");
    }
  });

  it("ends calls of another architecture", () => {
    const i386 = 0x40000003;
    expect(evaluate(filters.restricted, { architecture: i386, number: 1 })).toBe("kill");
  });
});

it("does not know x32 calls", () => {
  const filter = createSeccompFilter("enabled", "x64")!;
  for (const number of [0x40000000, 0x40000027, 0xffffffff]) {
    expect(evaluate(filter, { architecture: ARCHITECTURES.x64, number })).toBe("ENOSYS");
  }
});

const SET_IDS: [keyof typeof CHECKED_CALLS, number[], number[]][] = [
  ["chmod", [0, 0o755], [0, 0o4755]],
  ["creat", [0, 0o644], [0, 0o2755]],
  ["mkdir", [0, 0o755], [0, 0o2755]],
  ["mknod", [0, 0o10644], [0, 0o104755]],
  ["mknod", [0, 0o100644], [0, 0o20644]],
  ["open", [0, 0o100, 0o644], [0, 0o100, 0o4755]],
];
it.each(SET_IDS)("checks the mode of %s, which x64 alone has", (call, harmless, harmful) => {
  const filter = createSeccompFilter("enabled", "x64")!;
  const number = CHECKED_CALLS[call].x64;
  const run = (args: number[]) => evaluate(filter, { architecture: ARCHITECTURES.x64, number, args });
  expect([run(harmless), run(harmful), CHECKED_CALLS[call].arm64]).toEqual(["allow", "EPERM", undefined]);
});

it("is made for no other architecture", () => {
  expect(createSeccompFilter("restricted", "riscv64")).toBeUndefined();
});
