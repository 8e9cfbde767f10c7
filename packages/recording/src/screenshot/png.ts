/** The subset of `@resvg/resvg-js` used here. */
export interface Rasterizer {
  readonly Resvg: new (
    svg: string,
    options: object,
  ) => { render(): { asPng(): Uint8Array; readonly pixels: Uint8Array } };
}

/** Pixels of the PNG per pixel of the SVG, in each direction. */
const SCALE = 2;
const OPTIONS = {
  fitTo: { mode: "zoom", value: SCALE },
  font: { loadSystemFonts: true, defaultFontFamily: "DejaVu Sans Mono", monospaceFamily: "DejaVu Sans Mono" },
};

/** @throws Error naming what is missing: the rasterizer, or fonts */
export async function renderPng(svg: string, load: () => Promise<Rasterizer> = loadRasterizer): Promise<Uint8Array> {
  const { Resvg } = await load();
  if (!new Resvg(PROBE, OPTIONS).render().pixels.some((value) => value !== 0)) {
    throw new Error("a PNG needs fonts, and this host has none: install some, such as DejaVu, or write an SVG");
  }
  return new Resvg(svg, OPTIONS).render().asPng();
}

/** Detects missing fonts: text without a font is left out. */
const PROBE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text x="0" y="15" font-family="monospace">M</text></svg>';

async function loadRasterizer(): Promise<Rasterizer> {
  try {
    return await import("@resvg/resvg-js");
  } catch (cause) {
    const what = "a PNG needs the package @resvg/resvg-js, which is optional";
    throw new Error(`${what}: install it next to this one, or write an SVG`, { cause });
  }
}
