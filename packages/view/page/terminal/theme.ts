import type { ITheme } from "@xterm/xterm";

/** Colours of terminals, as the style sheet names them. */
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
