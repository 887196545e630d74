import type { ReactElement } from "react";
import { exportsOf, loadLibrary } from "@/lib/runtime/load-library";
import { ownTurn } from "@/lib/runtime/own-turn";

let renderer: typeof import("react-dom/server") | undefined;

/** Loads the renderer, so that the first page does not wait for it. */
export async function loadRenderer() {
  // Next rejects a static import of it in a route handler; and it is a third of the program, which a start need not wait for.
  renderer ??= exportsOf(await loadLibrary(() => import("react-dom/server")));
  return renderer;
}

/** Renders a whole page, in a turn of the event loop of its own. */
export async function renderHtml(page: ReactElement): Promise<string> {
  const { renderToStaticMarkup } = await loadRenderer();
  await ownTurn();
  return `<!doctype html>${renderToStaticMarkup(page)}`;
}
