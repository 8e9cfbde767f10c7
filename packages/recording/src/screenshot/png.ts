/** What is used of `@resvg/resvg-js`. */
export interface Rasterizer {
  readonly Resvg: new (
    svg: string,
    options: object,
  ) => { render(): { asPng(): Uint8Array; readonly pixels: Uint8Array } };
}

/** Pixels of the picture for each pixel of the SVG. */
const SCALE = 2;
const OPTIONS = {
  fitTo: { mode: "zoom", value: SCALE },
  font: { loadSystemFonts: true, defaultFontFamily: "DejaVu Sans Mono", monospaceFamily: "DejaVu Sans Mono" },
};

/** @throws Error that says what is missing: the rasterizer, or fonts */
export async function renderPng(svg: string, load: () => Promise<Rasterizer> = loadRasterizer): Promise<Uint8Array> {
  const { Resvg } = await load();
  if (!new Resvg(PROBE, OPTIONS).render().pixels.some((value) => value !== 0)) {
    throw new Error("a PNG needs fonts, and this host has none: install some, such as DejaVu, or write an SVG");
  }
  return new Resvg(svg, OPTIONS).render().asPng();
}

/** Text is left out where there is no font for it. */
const PROBE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text x="0" y="15" font-family="monospace">M</text></svg>';

async function loadRasterizer(): Promise<Rasterizer> {
  try {
    return await import("@resvg/resvg-js");
  } catch (cause) {
    const what = "a PNG needs the package @resvg/resvg-js, which is optional";
    throw new Error(`${what}: install it beside this one, or write an SVG`, { cause });
  }
}
