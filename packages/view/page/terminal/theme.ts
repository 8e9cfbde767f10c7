import type { ITheme } from "@xterm/xterm";

/** Colours of terminals, from variables of the style sheet. */
export function readTheme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    background: color("screen"),
    foreground: color("screen-text"),
    cursor: color("screen-text"),
    selectionBackground: color("selection"),
  };
}
