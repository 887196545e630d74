import type { ReactNode } from "react";
import type { Session } from "@/lib/auth/sessions/session";
import { describeDistance } from "@/lib/config/instants";
import { agents } from "../front/apps";
import { drawingOf, Monogram } from "../icons";
import { CopyLine } from "./access/copy-line";
import { isYes } from "./access/sessions";

const checksAfterSeconds = 10;
const waitsMs = 10 * 60 * 1000; // 10 minutes

/** Whether an app was approved so lately that its owner may be waiting for its first check. */
export const isNew = ({ begun_at_ms }: Session, nowMs: number) => nowMs - (begun_at_ms ?? 0) < waitsMs;

/** The app that was approved last: what it was told when it asked, and a line to ask an agent. */
export function LatestApp({ app, nowMs }: { app: Session; nowMs: number }) {
  const { name, app_origin, checked_at_ms, told } = app;
  const waits = checked_at_ms === null && isNew(app, nowMs);
  const isAgent = agents.some((agent) => name.startsWith(agent));
  const distance = describeDistance(checked_at_ms ?? nowMs, nowMs);
  const checked = `checked your plan ${distance === "now" ? "just now" : distance}`;
  return (
    <div className="latest-app" data-checks-after={waits ? checksAfterSeconds : undefined}>
      <ul className="entries named">
        <AppRow app={app}>
          <span role="status">
            {app_origin && !drawingOf(name) && `${app_origin} · `}
            {checked_at_ms === null
              ? "connected; it hasn’t checked yet"
              : `${checked}: your assistants can${isYes(told) ? "" : "not"} work there`}
          </span>
        </AppRow>
      </ul>
      {isAgent && (
        <>
          <p>Now ask it:</p>
          <CopyLine text="Is my plan active, and how many credits are left?" label="a line to ask it" />
        </>
      )}
    </div>
  );
}

/** An app by its letters and its name, and below it what it did last. */
export const AppRow = ({ app: { id, name }, children }: { app: Session; children: ReactNode }) => (
  <li data-key={id}>
    <Monogram name={name} />
    <strong>{name}</strong>
    <small>{children}</small>
  </li>
);
