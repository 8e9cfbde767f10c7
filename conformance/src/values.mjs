// JSON values: placeholders for volatile parts, and the first difference between two values.

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const FILE_URI = "file:///[^\\s]*";

/** Regular expression sources for volatile values, by kind. */
const TEXT_KINDS = {
  sessionId: UUID,
  providerId: "sha256:[0-9a-f]+",
  fileUri: FILE_URI,
  peer: "[^\\s]+:\\d+",
  date: "[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT",
  ms: "\\d+",
  pid: "\\d+",
  httpBase: "https?://[^\\s/]+",
};

/** Kinds that are numbers if the placeholder is the whole value. */
const LEAST_NUMBERS = { ms: 0, pid: 1 };

const PLACEHOLDER = /<(sessionId|environmentInfo|providerId|fileUri|peer|ms|date|httpBase|pid)>/;

/**
 * @typedef {{ path: string, problem: string }} Difference where, and what
 * @typedef {Partial<Record<string, string>>} Known volatile values that are known, by kind
 */

/**
 * The first difference between the recorded and the received value. The order of members is not significant.
 * @param {unknown} expected may hold placeholders
 * @param {unknown} actual
 * @param {Known} [known]
 * @param {string} [path]
 * @returns {Difference | undefined}
 */
export function findDifference(expected, actual, known = {}, path = "") {
  if (typeof expected === "string") return compareText(expected, actual, known, path);
  if (Array.isArray(expected)) return compareArrays(expected, actual, known, path);
  if (isObject(expected)) return compareObjects(expected, actual, known, path);
  return Object.is(expected, actual) ? undefined : differs(path, show(expected), actual);
}

/** @returns {value is Record<string, unknown>} */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value on one line, truncated. */
export function show(value, limit = 300) {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;
}

const differs = (path, expected, actual) => ({ path, problem: `expected ${expected}, got ${show(actual)}` });

function compareText(expected, actual, known, path) {
  const whole = PLACEHOLDER.exec(expected);
  if (whole === null) return expected === actual ? undefined : differs(path, show(expected), actual);
  const kind = whole[1];
  if (whole[0] === expected && kind === "environmentInfo") return compareEnvironmentInfo(actual, path);
  if (whole[0] === expected && Object.hasOwn(LEAST_NUMBERS, kind)) {
    const isOfKind = Number.isSafeInteger(actual) && actual >= LEAST_NUMBERS[kind];
    return isOfKind ? undefined : differs(path, `a whole number (${expected})`, actual);
  }
  if (typeof actual === "string" && toPattern(expected, known).test(actual)) return undefined;
  const wanted = known[kind] === undefined ? show(expected) : `${show(expected)} (${known[kind]})`;
  return differs(path, wanted, actual);
}

function toPattern(text, known) {
  const parts = text.split(new RegExp(PLACEHOLDER, "g"));
  // Every second part is the name of a kind.
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return escapePattern(part);
    return known[part] === undefined ? `(?:${TEXT_KINDS[part] ?? ".*"})` : escapePattern(known[part]);
  });
  return new RegExp(`^${source.join("")}$`, "s");
}

const escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

function compareArrays(expected, actual, known, path) {
  if (!Array.isArray(actual)) return differs(path, show(expected), actual);
  for (const [index, item] of expected.entries()) {
    const at = `${path}[${index}]`;
    if (index >= actual.length) return { path: at, problem: `missing: expected ${show(item)}` };
    const difference = findDifference(item, actual[index], known, at);
    if (difference !== undefined) return difference;
  }
  if (actual.length === expected.length) return undefined;
  return { path: `${path}[${expected.length}]`, problem: `one too many: ${show(actual[expected.length])}` };
}

function compareObjects(expected, actual, known, path) {
  if (!isObject(actual)) return differs(path, show(expected), actual);
  for (const [name, value] of Object.entries(expected)) {
    const at = memberPath(path, name);
    if (!Object.hasOwn(actual, name)) return { path: at, problem: `missing: expected ${show(value)}` };
    const difference = findDifference(value, actual[name], known, at);
    if (difference !== undefined) return difference;
  }
  const extra = Object.keys(actual).find((name) => !Object.hasOwn(expected, name));
  if (extra === undefined) return undefined;
  return { path: memberPath(path, extra), problem: `unexpected member: ${show(actual[extra])}` };
}

const memberPath = (path, name) => (path === "" ? name : `${path}.${name}`);

/** Members other than the shell may be missing; those present must have the right type. */
const ENVIRONMENT_INFO = {
  shell: ["a shell with name and path", (value) => isObject(value) && isText(value.name) && isText(value.path)],
  executorVersion: ["text", isText],
  providerId: ["text", isText],
  cwd: ["a file URI", isFileUri],
  userHomeDir: ["a file URI", isFileUri],
  platformOs: ["text", isText],
  prependPathDirs: ["a list of text", (value) => Array.isArray(value) && value.every(isText)],
  temporaryDirectories: ["a list of file URIs", (value) => Array.isArray(value) && value.every(isFileUri)],
  tempDir: ["a file URI", isFileUri],
  capabilities: [
    "booleans by name",
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === "boolean"),
  ],
};

function isText(value) {
  return typeof value === "string" && value !== "";
}

function isFileUri(value) {
  return isText(value) && new RegExp(`^${FILE_URI}$`).test(value);
}

function compareEnvironmentInfo(actual, path) {
  if (!isObject(actual)) return differs(path, "<environmentInfo>", actual);
  for (const [name, [kind, test]] of Object.entries(ENVIRONMENT_INFO)) {
    const isOptional = name !== "shell";
    if (isOptional && (actual[name] === undefined || actual[name] === null)) continue;
    if (!test(actual[name])) return differs(memberPath(path, name), kind, actual[name]);
  }
  return undefined;
}
