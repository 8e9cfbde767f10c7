import { isSplit } from "../cut.js";
import { decodeOnce, type View } from "./view.js";

/** How a `SecretFilter` finds and hides. */
export interface SecretFilterOptions {
  /** Shorter values are not hidden: that would damage other words. Default 4 UTF-16 units. */
  minLength?: number;
  /** What is shown in their place. Default `<hidden>`. */
  hidden?: string;
  /** Whether user, password, query and fragment of each URL are removed as well. Default false. */
  urls?: boolean;
}

interface Span {
  from: number;
  to: number;
  shown: string;
}

/** A text to search for; in base64, the characters next to it are a part of the value as well. */
interface Needle {
  text: string;
  isBase64: boolean;
}

/**
 * Hides known values in text of others, also where they are percent-encoded, escaped as in JSON or HTML, in hexadecimal digits, or a part of base64,
 * such as a basic authorization. A text that has to be shorter is cut by `hide`, or afterwards: a part of a value would not be found.
 */
export class SecretFilter {
  /** Most UTF-16 units that a value takes in a text. What is kept of a longer text is longer by this, until it is hidden. */
  readonly reach: number;
  readonly #needles: readonly Needle[];
  readonly #hidden: string;
  readonly #urls: boolean;

  constructor(secrets: Iterable<string | undefined>, options: SecretFilterOptions = {}) {
    const { minLength = 4, hidden = "<hidden>", urls = false } = options;
    const known = [...new Set(secrets)].filter((one) => one !== undefined && one.length >= minLength) as string[];
    this.#needles = known.flatMap(listNeedles);
    this.#hidden = hidden;
    this.#urls = urls;
    this.reach = Math.max(urls ? URL_REACH : 0, ...known.map(({ length }) => length * UNIT_REACH), 0);
  }

  /** Hides what a request has told a server: values of headers, also without `Bearer`, and the parts of its URL that may be secret. */
  static ofRequest(headers: Readonly<Record<string, string>> = {}, url?: string): SecretFilter {
    const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
    const { username, password, searchParams } = new URL(
      url !== undefined && URL.canParse(url) ? url : "http://localhost",
    );
    const users = [username, password].map((part) => decodeOnce({ text: part })?.text ?? part);
    return new SecretFilter([...values, ...users, ...searchParams.values()], { minLength: MIN_HEADER_LENGTH });
  }

  /** The part of a text between two offsets, UTF-16 units. A value that is only partly in it is hidden. */
  hide(text: string, from = 0, to = text.length): string {
    let at = isSplit(text, from) ? from + 1 : Math.max(0, from);
    let shown = "";
    for (const span of this.#find(text)) {
      if (span.to <= at) continue;
      if (span.from >= to) break;
      shown += text.slice(at, Math.max(at, span.from)) + span.shown;
      at = span.to;
    }
    return shown + text.slice(at, Math.max(at, isSplit(text, to) ? to - 1 : to));
  }

  /** The start of a text, of which at most `length` UTF-16 units are shown and `reach` more are searched. */
  hideHead(text: string, length: number): string {
    return this.hide(text.slice(0, length + this.reach), 0, length);
  }

  /** The end of a text, of which at most `length` UTF-16 units are shown and `reach` more are searched. */
  hideTail(text: string, length: number): string {
    const searched = text.slice(-(length + this.reach));
    return this.hide(searched, Math.max(0, searched.length - length));
  }

  /** Hides in the messages and stacks of an error and its causes, in place: callers depend on its class and code. */
  hideInError(error: unknown): void {
    let depth = 0;
    for (let each = error; each instanceof Error && depth < MAX_CAUSES; each = each.cause, depth += 1) {
      each.message = this.hide(each.message);
      if (each.stack !== undefined) each.stack = this.hide(each.stack);
    }
  }

  /** Ordered, without overlaps. */
  #find(text: string): Span[] {
    const found = this.#urls ? findUrlParts(text) : [];
    if (this.#needles.length > 0) {
      let view: View | undefined = { text };
      for (let layer = 0; view !== undefined && layer <= MAX_LAYERS; layer += 1) {
        for (const needle of this.#needles) this.#addSpans(found, needle, view);
        view = decodeOnce(view);
      }
    }
    return merge(found);
  }

  #addSpans(found: Span[], { text, isBase64 }: Needle, view: View): void {
    for (let at = view.text.indexOf(text); at !== -1; at = view.text.indexOf(text, at + text.length)) {
      let end = at + text.length;
      if (isBase64) while (end < at + text.length + 4 && /[\w+/=-]/.test(view.text[end] ?? "")) end += 1;
      const start = isBase64 && /[\w+/-]/.test(view.text[at - 1] ?? "") ? at - 1 : at;
      const { starts } = view;
      found.push({ from: starts?.[start] ?? start, to: starts?.[end] ?? end, shown: this.#hidden });
    }
  }
}

const MAX_CAUSES = 16;
/** Shorter values of headers are words, UTF-16 units. */
const MIN_HEADER_LENGTH = 8;
/** Encodings within each other that are undone. */
const MAX_LAYERS = 3;
/** Longest encoding of a UTF-16 unit: three bytes, percent-encoded three times, `%2525e2`. */
const UNIT_REACH = 21;
/** Longest part of a URL that is recognized across the place of a cut, UTF-16 units. */
const URL_REACH = 1024;
/** Shorter values are not searched in base64 and hexadecimal digits, where they could be a part of anything, bytes. */
const MIN_ENCODED_BYTES = 8;

function listNeedles(secret: string): Needle[] {
  const asInForm = secret.replaceAll(" ", "+");
  return [
    ...[...new Set([secret, asInForm])].map((text) => ({ text, isBase64: false })),
    ...listHex(secret).map((text) => ({ text, isBase64: false })),
    ...listBase64(secret).map((text) => ({ text, isBase64: true })),
  ];
}

function listHex(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < MIN_ENCODED_BYTES) return [];
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [text, text.toUpperCase()];
}

/** The characters that only the value determines, at each of the three places that it may have in a group of three bytes. */
function listBase64(secret: string): string[] {
  let bytes = "";
  for (const byte of new TextEncoder().encode(secret)) bytes += String.fromCharCode(byte);
  if (bytes.length < MIN_ENCODED_BYTES) return [];
  const found = [0, 1, 2].flatMap((before) => {
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const text = btoa("\0".repeat(before) + bytes).slice([0, 2, 3][before], end);
    return [text, text.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...new Set(found)];
}

function findUrlParts(text: string): Span[] {
  return Array.from(text.matchAll(/:\/\/([^\s`'"<>]+)/g)).flatMap(({ index, 1: rest = "" }) => {
    const from = index! + 3;
    const end = rest.search(/[?#]/);
    const place = end === -1 ? rest : rest.slice(0, end);
    const slash = place.indexOf("/");
    const userInfo = (slash === -1 ? place : place.slice(0, slash)).lastIndexOf("@") + 1;
    return [
      ...(userInfo === 0 ? [] : [{ from, to: from + userInfo, shown: "" }]),
      ...(end === -1 ? [] : [{ from: from + end, to: from + rest.length, shown: "" }]),
    ];
  });
}

function merge(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = merged.at(-1);
    if (last === undefined || span.from >= last.to) merged.push({ ...span });
    else if (span.to > last.to) Object.assign(last, { to: span.to, shown: last.shown || span.shown });
  }
  return merged;
}
