import { blockReadiness } from "@/lib/runtime/readiness";

/**
 * Imports a library when it is first needed. If that fails, for example because no file can be opened, this process is no
 * longer ready: Node remembers the failure of an import until the process ends.
 */
export async function loadLibrary<Library>(load: () => Promise<Library>): Promise<Library> {
  try {
    return await load();
  } catch (failure) {
    blockReadiness("a part of the program could not be loaded; restart the service");
    throw failure;
  }
}

/** What a CommonJS library exports: once it is bundled, its import has that as the default only. */
export function exportsOf<Library extends object>(library: Library & { default?: Library }): Library {
  return library.default ?? library;
}
