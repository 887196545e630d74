import type { ReactElement } from "react";
import { exportsOf, loadLibrary } from "@/lib/runtime/load-library";
import { ownTurn } from "@/lib/runtime/own-turn";

// Next rejects a static import of it in a route handler; and it is a third of the program, which a start need not wait for.
const library = () => loadLibrary(() => import("react-dom/server"));

/** Loads the renderer, so that the first page does not wait for it. */
export async function loadRenderer(): Promise<void> {
  await library();
}

/** Renders a whole page, in a turn of the event loop of its own. */
export async function renderHtml(page: ReactElement): Promise<string> {
  const { renderToStaticMarkup } = exportsOf(await library());
  await ownTurn();
  return `<!doctype html>${renderToStaticMarkup(page)}`;
}
