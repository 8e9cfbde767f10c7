import fc from "fast-check";

/** What a property is run with: `pnpm fuzz --runs N --seed S` sets both; the suite takes few runs of one seed. */
function parameters(runsInSuite = 150): { numRuns: number; seed: number } {
  return {
    numRuns: Number(process.env.FUZZ_RUNS ?? runsInSuite),
    seed: Number(process.env.FUZZ_SEED ?? 1),
  };
}

/** Fails with the seed and the smallest input that breaks the property. */
export const check = <Ts>(property: fc.IProperty<Ts> | fc.IAsyncProperty<Ts>, runsInSuite?: number) =>
  fc.assert(property as fc.IAsyncProperty<Ts>, parameters(runsInSuite));

/** Values that break code which trusts JSON. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  "",
  "\0",
  "\ud800",
  "__proto__",
  "a".repeat(5_000),
  -1,
  0.5,
  1e308,
  2 ** 53,
  -0,
  [],
  {},
  [[[[[[]]]]]],
  JSON.parse('{"__proto__":{"type":"x"},"constructor":1,"toString":null}'),
];

/** Any JSON value, hostile ones more often than chance would have it. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4, noUnicodeString: false }) },
);

interface Edit {
  at: number;
  what: "replace" | "delete" | "add" | "repeat" | "nest";
  key: string;
  value: unknown;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  what: fc.constantFrom("replace", "delete", "add", "repeat", "nest"),
  key: fc.oneof(fc.constantFrom("__proto__", "type", "id", "method", "requestId", "constructor", ""), fc.string()),
  value: anyJson,
});

/** A value of the corpus with a few of its members changed, taken away or added. */
export const mutatedJson = (corpus: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(fc.constantFrom(...corpus), fc.array(edit, { maxLength: 4 }))
    .map(([value, edits]) => edits.reduce(applyEdit, structuredClone(value)));

function applyEdit(value: unknown, { at, what, key, value: shared }: Edit): unknown {
  const other = structuredClone(shared);
  const holders = listHolders(value);
  if (holders.length === 0) return what === "nest" ? [value] : other;
  const { holder, name } = holders[at % holders.length]!;
  const old: unknown = structuredClone(Reflect.get(holder, name));
  const set = (target: object, member: string, to: unknown) =>
    Object.defineProperty(target, member, { value: to, writable: true, enumerable: true, configurable: true });
  if (what === "replace") set(holder, name, other);
  else if (what === "nest") set(holder, name, [old]);
  else if (what === "add") set(holder, Array.isArray(holder) ? String(holder.length) : key, other);
  else if (what === "repeat") set(holder, Array.isArray(holder) ? String(holder.length) : `${name}2`, old);
  else if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else Reflect.deleteProperty(holder, name);
  return value;
}

/** Every place of a value that can be changed. */
function listHolders(value: unknown): { holder: object; name: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [{ holder: value, name }, ...listHolders(inner)]);
}

/** A text of the corpus with pieces cut out, doubled, swapped, or replaced by words that mean something. */
export const mutatedText = (corpus: readonly string[], words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...corpus), { minLength: 1, maxLength: 3 }),
      fc.array(
        fc.record({
          at: fc.nat(),
          length: fc.nat({ max: 12 }),
          put: fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 }), fc.string({ unit: "binary" })),
        }),
        { maxLength: 6 },
      ),
    )
    .map(([texts, edits]) =>
      edits.reduce((text, { at, length, put }) => {
        const from = at % (text.length + 1);
        return text.slice(0, from) + put + text.slice(from + length);
      }, texts.join("")),
    );

/** A short piece very often in a row, between two others: what quadratic parsers stumble over. */
export const repeatedText = (words: readonly string[], longest: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom("", ...words),
      fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", ...words),
    )
    .map(([before, pieces, after]) => {
      const piece = pieces.join("");
      return before + piece.repeat(Math.max(1, Math.floor(longest / Math.max(1, piece.length)))) + after;
    });

/** Bytes cut into pieces, as a transport hands them on. */
export const cutBytes = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
};

export const bytes = (constraints: fc.IntArrayConstraints = {}): fc.Arbitrary<Buffer> =>
  fc.uint8Array(constraints).map((array) => Buffer.from(array));
