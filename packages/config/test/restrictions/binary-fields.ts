import { closeSync, openSync, readSync } from "node:fs";

/** Shortest and longest name of a field, in bytes. */
const MAX_NAME_BYTES = 80;

/**
 * The names of fields that a Rust program for 64-bit Linux was compiled with, as runs of adjacent ones: arrays of pointer and length in
 * `.data.rel.ro`, whose texts are in `.rodata`.
 */
export function readFieldRuns(file: string): string[][] {
  const descriptor = openSync(file, "r");
  try {
    const read = (offset: number, length: number) => {
      const bytes = Buffer.alloc(length);
      readSync(descriptor, bytes, 0, length, offset);
      return bytes;
    };
    const sections = readSections(read);
    const [texts, arrays] = [sections.get(".rodata"), sections.get(".data.rel.ro")];
    if (texts === undefined || arrays === undefined) throw new Error(`${file} is not a program for Linux`);
    return collectRuns(read(arrays.offset, arrays.size), read(texts.offset, texts.size), texts.address);
  } finally {
    closeSync(descriptor);
  }
}

/** The fields from `first` to `last`, of the run that has all of `within`. */
export function findFields(
  runs: readonly string[][],
  first: string,
  last: string,
  within: readonly string[],
): string[] {
  for (const run of runs.filter((names) => within.every((name) => names.includes(name)))) {
    const end = run.indexOf(last, run.indexOf(within[0] ?? first));
    const start = run.lastIndexOf(first, run.indexOf(within[0] ?? first));
    if (start >= 0 && end >= start) return run.slice(start, end + 1);
  }
  return [];
}

interface Section {
  address: number;
  offset: number;
  size: number;
}

function readSections(read: (offset: number, length: number) => Buffer): Map<string, Section> {
  const header = read(0, 64);
  const [start, size, count, names] = [
    Number(header.readBigUInt64LE(40)),
    header.readUInt16LE(58),
    header.readUInt16LE(60),
    header.readUInt16LE(62),
  ];
  const all = Array.from({ length: count }, (_, index) => {
    const entry = read(start + index * size, size);
    const at = (offset: number) => Number(entry.readBigUInt64LE(offset));
    return { name: entry.readUInt32LE(0), address: at(16), offset: at(24), size: at(32) };
  });
  const table = all[names];
  const text = table === undefined ? Buffer.alloc(0) : read(table.offset, table.size);
  return new Map(all.map(({ name, ...section }) => [text.toString("latin1", name, text.indexOf(0, name)), section]));
}

function collectRuns(arrays: Buffer, texts: Buffer, address: number): string[][] {
  const nameAt = (at: number): string | undefined => {
    if (at + 16 > arrays.length) return undefined;
    const from = Number(arrays.readBigUInt64LE(at)) - address;
    const length = Number(arrays.readBigUInt64LE(at + 8));
    if (from < 0 || length === 0 || length > MAX_NAME_BYTES || from + length > texts.length) return undefined;
    const name = texts.toString("latin1", from, from + length);
    return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? name : undefined;
  };
  const runs: string[][] = [];
  for (let at = 0; at < arrays.length; at += 8) {
    const run: string[] = [];
    for (let name = nameAt(at); name !== undefined; name = nameAt(at)) {
      run.push(name);
      at += 16;
    }
    if (run.length > 0) runs.push(run);
  }
  return runs;
}
