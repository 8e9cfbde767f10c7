import type { IUnicodeVersionProvider, Terminal } from "@xterm/headless";

/** The part of an addon that registers widths. */
interface WidthsAddon {
  activate(terminal: Terminal): void;
}

/**
 * Widths of characters in columns: those of an addon, of Unicode 11, and of newer characters by the Unicode data of Node, which also
 * programs and their libraries go by.
 */
export function createWidths(addon: WidthsAddon): IUnicodeVersionProvider {
  let older: IUnicodeVersionProvider | undefined;
  const register = (provider: IUnicodeVersionProvider) => {
    older = provider;
  };
  addon.activate({ unicode: { register } } as unknown as Terminal); // it uses nothing else
  if (older === undefined) throw new Error("this version of @xterm/addon-unicode11 is not supported");
  const { wcwidth } = older;
  const known = new Uint8Array(0x20000);
  // Its other functions ask this one.
  return Object.assign(Object.create(older) as IUnicodeVersionProvider, {
    version: "codex",
    wcwidth(code: number): 0 | 1 | 2 {
      if (code < FIRST_NEWER || code >= known.length) return wcwidth.call(older, code);
      const cached = known[code]!;
      if (cached !== 0) return (cached - 1) as 0 | 1 | 2;
      const width = wcwidth.call(older, code);
      const corrected = width === 1 ? widthOf(String.fromCodePoint(code)) : width;
      known[code] = corrected + 1;
      return corrected;
    },
  });
}

/** First code point whose width the addon may not know. */
const FIRST_NEWER = 0x0800;

/** Of a character that the addon takes for narrow, as it does with all that it does not know. */
function widthOf(character: string): 0 | 1 | 2 {
  if (/[\p{Mn}\p{Me}]/u.test(character)) return 0;
  return WIDE_EMOJI.test(character) || WIDE.test(character) ? 2 : 1;
}

/** Two regional indicators are a flag, which is as wide as one emoji: each is narrow, also to programs. */
const WIDE_EMOJI = /(?!\p{Regional_Indicator})\p{Emoji_Presentation}/u;

/** Scripts that are wide beyond the basic plane. */
const WIDE =
  /(?=[\u{10000}-\u{1ffff}])[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Tangut}\p{sc=Khitan_Small_Script}\p{sc=Nushu}]/u;
