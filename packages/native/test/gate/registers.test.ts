import { expect, it } from "vitest";
import type { KernelCalls } from "../../src/gate/kernel-calls.js";
import { callExecveat, canCallExecveat } from "../../src/gate/registers.js";
import { ABIS } from "../../src/gate/system-calls.js";

const CALL = { tid: 9, image: 5, empty: 0x77n, argv: 0x88n, envp: 0x99n };
const [native, , i386] = ABIS.x64!.executing;
const [arm64, arm] = ABIS.arm64!.executing;

/** What a thread whose registers are 1000 + their index has afterwards, where that is something else. */
function change(architecture: "x64" | "arm64", abi: typeof native) {
  const memory = new Map<bigint, BigUint64Array>();
  const requests: unknown[] = [];
  let written: BigUint64Array | undefined;
  const addressOf = (bytes: BigUint64Array) => {
    const address = 4096n * BigInt(memory.size + 1);
    memory.set(address, bytes);
    return address;
  };
  const ptrace: KernelCalls["ptrace"] = (request, tid, data, address = 0) => {
    requests.push([request, tid, address]);
    const at = BigInt(data);
    const registers = architecture === "x64" ? memory.get(at)! : memory.get(memory.get(at)![0]!)!;
    if (requests.length === 1) for (const index of registers.keys()) registers[index] = BigInt(1000 + index);
    else written = registers;
    return 0;
  };
  callExecveat({ addressOf, ptrace } as unknown as KernelCalls, architecture, { ...CALL, abi: abi! });
  const changed = [...written!.entries()].filter(([index, value]) => value !== BigInt(1000 + index));
  return { requests, registers: Object.fromEntries(changed) };
}

it("a program of x86-64 calls with rdi, rsi, rdx, r10, r8", () => {
  expect(change("x64", native)).toEqual({
    requests: [
      [12, 9, 0],
      [13, 9, 0],
    ],
    registers: { 16: 1014n, 15: 2n ** 64n - 1n, 10: 322n, 14: 5n, 13: 0x77n, 12: 0x88n, 7: 0x99n, 9: 0x1000n },
  });
});

it("a program of i386 calls with ebx, ecx, edx, esi, edi", () => {
  expect(change("x64", i386).registers).toEqual({
    ...{ 16: 1014n, 15: 2n ** 64n - 1n, 10: 358n },
    ...{ 5: 5n, 11: 0x77n, 12: 0x88n, 13: 0x99n, 14: 0x1000n },
  });
});

it("a program of arm64 calls with x0 to x4, and its number in x8", () => {
  expect(change("arm64", arm64)).toEqual({
    requests: [
      [0x4204, 9, 1],
      [0x4205, 9, 1],
    ],
    registers: { 0: 5n, 1: 0x77n, 2: 0x88n, 3: 0x99n, 4: 0x1000n, 8: 281n, 32: 1028n },
  });
});

it("a program of 32 bits on arm64 cannot", () => {
  expect([canCallExecveat("arm64", arm64!), canCallExecveat("arm64", arm!)]).toEqual([true, false]);
  expect([canCallExecveat("x64", i386!), canCallExecveat("riscv64", native!)]).toEqual([true, false]);
});
