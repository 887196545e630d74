import { describe, expect, it } from "vitest";
import type { Session } from "@/lib/auth/sessions/session";
import { unnamedProgram, withDistinctNames } from "@/lib/auth/sessions/session-name";

const session = (name: string, begun: string | null, browser = "Firefox on Linux") =>
  ({
    name,
    begun_at_ms: begun && Date.parse(begun),
    startedIn: { browser, network: null },
  }) as Session;

const namesOf = (sessions: Session[], zone?: string) =>
  withDistinctNames(sessions, zone).map(({ name }) => name);

describe("sessions of one name", () => {
  it("are told apart by their day, or their time, or else by a number, and others keep their name", () => {
    expect(
      namesOf([
        session("Claude", "2026-11-28T09:00Z"),
        session("Cursor", "2026-11-28T09:00Z"),
        session("Claude", "2026-11-25T09:00Z"),
      ]),
    ).toEqual(["Claude, since 28 November", "Cursor", "Claude, since 25 November"]);
    expect(namesOf([session("Claude", "2026-11-28T09:00Z"), session("Claude", "2026-11-28T07:30Z")])).toEqual(
      ["Claude, since 28 November at 09:00", "Claude, since 28 November at 07:30"],
    );
    expect(namesOf([session("Claude", "2026-11-28T09:00Z"), session("Claude", "2026-11-28T09:00Z")])).toEqual(
      ["Claude, 2 of 2", "Claude, 1 of 2"],
    );
    expect(namesOf([session("Claude", null), session("Claude", null)])).toEqual([
      ...["Claude, 2 of 2", "Claude, 1 of 2"],
    ]);
  });

  it("have days of their owner's zone", () => {
    const two = [session("Claude", "2026-11-28T20:00Z"), session("Claude", "2026-11-25T09:00Z")];
    expect(namesOf(two, "Asia/Tokyo")).toEqual(["Claude, since 29 November", "Claude, since 25 November"]);
  });

  it("of a program without a name say its system", () => {
    expect(namesOf([session(unnamedProgram, null, "Safari on macOS")])).toEqual(["An app on a Mac"]);
    expect(namesOf([session(unnamedProgram, null, "A browser")])).toEqual([unnamedProgram]);
  });
});
