import { refuseInspector } from "@codex/exec-server";

// Of a part that is a program of its own: before everything else is loaded.
refuseInspector();
