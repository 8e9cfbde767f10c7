import { expect } from "vitest";

export interface Cast {
  header: { version: 3; term: { cols: number; rows: number; type?: string }; timestamp: number; command: string };
  events: { interval: number; code: string; data: string }[];
}

/** Reads an asciicast v3 by the rules of docs.asciinema.org/manual/asciicast/v3. @throws Error at the first line that breaks one. */
export function parseCast(text: string): Cast {
  if (!text.endsWith("\n")) throw new Error(`the last line is not whole: ${JSON.stringify(text.slice(-80))}`);
  const [first, ...rest] = text.slice(0, -1).split("\n");
  const header = JSON.parse(first!) as Cast["header"]; // checked below
  expect(header).toEqual({
    version: 3,
    term: expect.objectContaining({ cols: expect.any(Number), rows: expect.any(Number) }),
    timestamp: expect.any(Number),
    command: expect.any(String),
  });
  for (const value of [header.term.cols, header.term.rows]) expect(value > 0 && value <= 0xffff).toBe(true);
  expect(Number.isInteger(header.timestamp)).toBe(true);
  return { header, events: rest.map(parseEvent) };
}

const DATA: Readonly<Record<string, RegExp>> = { r: /^[1-9]\d*x[1-9]\d*$/, x: /^\d+$/ };

function parseEvent(line: string) {
  const event: unknown = JSON.parse(line);
  if (!Array.isArray(event) || event.length !== 3) throw new Error(`not an event of three: ${line}`);
  const [interval, code, data] = event as unknown[];
  if (typeof interval !== "number" || !(interval >= 0)) throw new Error(`not an interval: ${line}`);
  if (typeof code !== "string" || !/^[oimrx]$/.test(code)) throw new Error(`not a code: ${line}`);
  if (typeof data !== "string" || !(DATA[code] ?? /^/).test(data)) throw new Error(`not the data of ${code}: ${line}`);
  return { interval, code, data };
}

/** What the events of one code say, in a row. */
export const dataOf = ({ events }: Cast, code: string): string =>
  events
    .filter((event) => event.code === code)
    .map(({ data }) => data)
    .join("");
