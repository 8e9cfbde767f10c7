import { h, panel } from "../dom/element.ts";

document.body.append(h("main", {}, panel("Replay", "replay")));
