import { describe, expect, it } from "vitest";
import { systemClock } from "../src/clock.js";

describe("the system clock", () => {
  it("runs later, never within the call, and not after it was cancelled", async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      const cancel = systemClock.after(0, () => order.push("cancelled"));
      systemClock.after(1, () => {
        order.push("later");
        resolve();
      });
      cancel();
      order.push("now");
    });
    expect(order).toEqual(["now", "later"]);
  });

  it("does not fire at once for a delay that is too long for one timer", async () => {
    let early = false;
    const cancel = systemClock.after(2 ** 40, () => {
      early = true;
    });
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    cancel();
    expect(early).toBe(false);
  });
});
