import { MAX_JUDGED_WORDS } from "@codex/exec-gate";
import { MAX_ARGUMENT_BYTES, MAX_ARGUMENTS_BYTES } from "../limits.js";
import { ERRNO, type KernelCalls } from "./kernel-calls.js";

/** What was read, or the errno for which it was not. */
type Read<Value> = { value: Value } | { errno: number };

/** Reads memory of a process that waits in a system call. Its other threads may change what is read. */
export interface CallerMemory {
  /** Without its NUL. `ENAMETOOLONG` where it is longer than `most` bytes. */
  readText(pid: number, address: bigint, most: number): Read<Buffer>;
  /** Texts of a vector that ends with a null pointer, one more than `most`; `E2BIG` where they are too long for the kernel. @param most default: as many as are judged */
  readVector(pid: number, address: bigint, pointerBytes: 4 | 8, most?: number): Read<Buffer[]>;
}

/** The unit in which memory can be missing. */
const PAGE_BYTES = 4096;
/** Texts of one call, and bytes of each that are read with the others. */
const BATCH = 64;
const PIECE_BYTES = 256;
const POINTERS_BYTES = 512;

export function createCallerMemory(calls: KernelCalls): CallerMemory {
  const page = Buffer.alloc(PAGE_BYTES);
  const pool = Buffer.alloc(BATCH * PIECE_BYTES);
  const into = new BigUint64Array(2 * BATCH);
  const from = new BigUint64Array(2 * BATCH);
  const poolAddress = calls.addressOf(pool);
  const pageAddress = calls.addressOf(page);

  /** Reads into `page`, from `least` bytes on to the end of a page of the process. Returns the bytes. */
  const readPage = (pid: number, address: bigint, least: number, most: number): number => {
    const bytes = BigInt(Math.max(least, Math.min(most, roomAt(address))));
    into[0] = pageAddress;
    from[0] = address;
    into[1] = bytes;
    from[1] = bytes;
    return calls.readMemory(pid, into, from, 1);
  };
  const readText: CallerMemory["readText"] = (pid, start, most) => {
    const parts: Buffer[] = [];
    for (let length = 0, address = start; ; ) {
      const count = readPage(pid, address, 1, PAGE_BYTES);
      if (count <= 0) return { errno: -count || ERRNO.EFAULT };
      const end = page.subarray(0, count).indexOf(0);
      const part = page.subarray(0, end < 0 ? count : end);
      length += part.length;
      if (length > most) return { errno: ERRNO.ENAMETOOLONG };
      parts.push(Buffer.from(part));
      if (end >= 0) return { value: parts.length === 1 ? parts[0]! : Buffer.concat(parts) };
      address += BigInt(count);
    }
  };
  const readPointers = (pid: number, start: bigint, pointerBytes: 4 | 8, most: number): Read<bigint[]> => {
    const pointers: bigint[] = [];
    for (let address = start; ; ) {
      const count = readPage(pid, address, pointerBytes, POINTERS_BYTES);
      if (count < pointerBytes) return { errno: count < 0 ? -count : ERRNO.EFAULT };
      const whole = count - (count % pointerBytes);
      for (let at = 0; at < whole; at += pointerBytes) {
        const pointer = pointerBytes === 8 ? page.readBigUInt64LE(at) : BigInt(page.readUInt32LE(at));
        if (pointer === 0n || pointers.push(pointer) > most) return { value: pointers };
      }
      address += BigInt(whole);
    }
  };
  /** Reads the beginnings of some texts with one call. Returns how many bytes of each. */
  const readPieces = (pid: number, pointers: readonly bigint[]): Read<number[]> => {
    const sizes = pointers.map((pointer, index) => {
      const bytes = Math.min(PIECE_BYTES, roomAt(pointer));
      into[index * 2] = poolAddress + BigInt(index * PIECE_BYTES);
      from[index * 2] = pointer;
      into[index * 2 + 1] = BigInt(bytes);
      from[index * 2 + 1] = BigInt(bytes);
      return bytes;
    });
    let left = calls.readMemory(pid, into, from, pointers.length);
    if (left < 0) return { errno: -left };
    return {
      value: sizes.map((size) => {
        const bytes = Math.min(left, size);
        left -= bytes;
        return bytes;
      }),
    };
  };
  return {
    readText,
    readVector(pid, address, pointerBytes, most = MAX_JUDGED_WORDS) {
      if (address === 0n) return { value: [] };
      const pointers = readPointers(pid, address, pointerBytes, most);
      if ("errno" in pointers) return pointers;
      const texts: Buffer[] = [];
      let total = 0;
      for (let at = 0; at < pointers.value.length; at += BATCH) {
        const batch = pointers.value.slice(at, at + BATCH);
        const sizes = readPieces(pid, batch);
        if ("errno" in sizes) return sizes;
        // Before the pool is used again.
        const pieces = sizes.value.map((size, index) => {
          const piece = pool.subarray(index * PIECE_BYTES, index * PIECE_BYTES + size);
          const end = piece.indexOf(0);
          return end < 0 ? undefined : Buffer.from(piece.subarray(0, end));
        });
        for (const [index, piece] of pieces.entries()) {
          const read = piece === undefined ? readText(pid, batch[index]!, MAX_ARGUMENT_BYTES) : { value: piece };
          if ("errno" in read) return read.errno === ERRNO.ENAMETOOLONG ? { errno: ERRNO.E2BIG } : read;
          total += read.value.length;
          if (total > MAX_ARGUMENTS_BYTES) return { errno: ERRNO.E2BIG };
          texts.push(read.value);
        }
      }
      return { value: texts };
    },
  };
}

/** Bytes to the end of the page of an address. */
const roomAt = (address: bigint): number => PAGE_BYTES - Number(address % BigInt(PAGE_BYTES));
