import type { StyledScreen } from "@codex/executor-protocol";
import { renderPng } from "./png.js";
import { renderSvg } from "./svg.js";

/** Formats of a picture of a terminal, as the extensions of their files. */
export const SCREENSHOT_FORMATS = ["svg", "png", "txt"] as const;
/** Format of a picture of a terminal. */
export type ScreenshotFormat = (typeof SCREENSHOT_FORMATS)[number];

/** How a screenshot is labeled. */
export interface ScreenshotOptions {
  /** In the title bar; default: the title that the program has set. */
  readonly heading?: string | undefined;
}

/**
 * What a terminal shows, as a picture or as text. A PNG needs `@resvg/resvg-js`, which is loaded on demand.
 * @throws Error naming what a PNG lacks: that package, or fonts
 */
export async function renderScreenshot(
  screen: StyledScreen,
  format: ScreenshotFormat,
  { heading }: ScreenshotOptions = {},
): Promise<string | Uint8Array> {
  if (format === "txt") return renderRows(screen);
  const svg = renderSvg(screen, heading);
  return format === "svg" ? svg : renderPng(svg);
}

/** Rows of text, each with a line end, without blanks at their ends. */
const renderRows = ({ styledRows }: StyledScreen): string =>
  styledRows
    .map((runs) =>
      runs
        .map(({ text }) => text)
        .join("")
        .trimEnd()
        .concat("\n"),
    )
    .join("");
